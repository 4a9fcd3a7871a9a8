"""What a request leaves behind once it is over: nothing, whatever it was."""
import os
import re
import time

import pytest

import load
import raw
from conftest import RUN, Server, trace
from test_load import MEMORY_TOLERANCE
from test_raw import SECONDS, SIZE, etag_of, exactly, names_of

ROUNDS = 3


def in_flight(server):
    return int(re.search(r'^view_profile_http_in_flight (\d+)$', server.get('/metrics').content().decode(), re.M)[1])


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv('ASAN_OPTIONS', f'{os.environ.get("ASAN_OPTIONS", "")}:quarantine_size_mb=4'.lstrip(':'))
    run = tmp_path / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    (run / 'beta.trace.json').write_bytes(exactly(SIZE))
    os.utime(run / 'beta.trace.json', (SECONDS, SECONDS))
    one = Server(tmp_path)
    one.session = one.sessions()[0]['id']
    one.names = names_of(one.port, one.session, etag_of(one.port, f'/trace/{one.session}/raw/beta.trace.json'))
    yield one
    if one.process.poll() is None:
        one.stop()


def all_rows(server, times=1):
    """Every row, without waiting for what comes back longer than it takes to come."""
    for row in raw.rows():
        data = raw.expand(row.bytes, server.names)
        for _ in range(times):
            raw.exchange(server.port, data, idle=0.02)


def settled_again(server, before):
    """The figures once descriptors and threads are back, or 40 s later: the idle timeout, 30 s, ends a connection whose
    end came in one piece with bytes that make no request; libmicrohttpd does not see it before."""
    end = time.monotonic() + 40
    after = load.settled(server.process.pid)
    while (after.fds > before.fds or after.threads > before.threads) and time.monotonic() < end:
        after = load.settled(server.process.pid)
    return after


def test_no_row_of_the_table_leaves_anything(server):
    all_rows(server)
    before = load.settled(server.process.pid)
    all_rows(server)
    after = settled_again(server, before)
    assert in_flight(server) == 1, 'requests that never end'  # the one that asks
    assert after.fds <= before.fds and after.threads <= before.threads
    assert after.rss <= before.rss * MEMORY_TOLERANCE + (2 << 20), (before.rss, after.rss)
    assert server.stop() < 3, 'nothing is in flight, and the end waits for it'


@pytest.mark.parametrize('target', ['/healthz?' + '&' * 3000, '/healthz?' + '&a=b' * 900, '/?' + '&' * 30000,
                                    '/\0?' + '&' * 3000, '/healthz' + '?&' * 2000])
def test_a_query_costs_nothing_for_good(server, target):
    """10 kB each, for ever, was the price of one whose parameters did not fit the memory of a connection."""
    data = f'GET {target} HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n\r\n'.encode()

    def burden():
        for _ in range(200):
            raw.exchange(server.port, data, first=0.01)
    burden()
    before = load.settled(server.process.pid)
    for _ in range(ROUNDS):
        burden()
    after = settled_again(server, before)
    assert in_flight(server) == 1
    assert after.fds <= before.fds
    assert after.rss <= before.rss * MEMORY_TOLERANCE + (2 << 20), (before.rss, after.rss)
    assert server.stop() < 3  # and a sanitizer's build looks for what was lost


@pytest.mark.parametrize('cut', range(0, 60, 7))
def test_a_client_that_goes_away_inside_its_head(server, cut):
    data = f'GET /healthz?{"&" * 50} HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode()
    for _ in range(20):
        with load.connect(server.port) as s:
            s.sendall(data[:len(data) - 1 - cut])
    assert in_flight(server) == 1
    assert server.stop() < 3
