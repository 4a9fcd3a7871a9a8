"""Who has left waits for nothing: an analysis that nobody waits for ends, and its place is free."""
import os
import pathlib
import re
import time

import pytest

from conftest import RUN, Server, trace


def in_flight(server):
    return int(re.search(rb'\nview_profile_http_in_flight (\d+)', server.get('/metrics').body)[1])


def served(root, events):
    run = root / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    (run / 'vm.trace.json').write_bytes(trace(events))
    server = Server(root)
    return server, server.sessions()[0]['id']


def ask(server, session):
    s = server.connect(timeout=120)
    s.sendall(f'GET /session/{session}/ HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode())
    return s


def cpu_s(server):
    """Processor time of the server: other work of the machine does not count."""
    fields = pathlib.Path(f'/proc/{server.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@pytest.mark.slow
def test_what_nobody_waits_for_ends(tmp_path):
    server, session = served(tmp_path, 1_000_000)
    s = ask(server, session)
    while in_flight(server) != 2:
        time.sleep(0.02)
    time.sleep(0.1)
    begin, end = cpu_s(server), time.monotonic() + 60
    s.close()
    while in_flight(server) > 1:
        time.sleep(0.02)
        assert time.monotonic() < end
    left = cpu_s(server) - begin
    begin = cpu_s(server)
    s = ask(server, session)
    head = s.recv(12)
    assert head.endswith(b'200')
    whole = cpu_s(server) - begin
    s.close()
    server.stop()
    assert left < whole / 2, (left, whole)


def test_one_of_two_leaves_and_the_other_is_answered(tmp_path):
    server, session = served(tmp_path, 200_000)
    first = ask(server, session)
    time.sleep(0.1)
    second = ask(server, session)
    time.sleep(0.1)
    first.close()
    assert second.recv(12).endswith(b'200')
    second.close()
    server.stop()
