"""Who has left waits for nothing: an analysis that nobody waits for ends, and its place is free."""
import re
import time

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


def test_what_nobody_waits_for_ends(tmp_path):
    server, session = served(tmp_path, 1_000_000)
    begin = time.monotonic()
    s = ask(server, session)
    time.sleep(0.3)
    assert in_flight(server) == 2
    s.close()
    while in_flight(server) > 1:
        time.sleep(0.02)
        assert time.monotonic() - begin < 60
    left = time.monotonic() - begin
    begin = time.monotonic()
    s = ask(server, session)
    head = s.recv(12)
    assert head.endswith(b'200')
    whole = time.monotonic() - begin
    s.close()
    server.stop()
    assert left - 0.3 < whole / 2, (left, whole)


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
