"""Connections and bodies: keep-alive, ranges, conditions, streams, slow and vanishing clients."""
import gzip
import json
import socket
import struct
import time

import pytest

from added import own
from conftest import BIG_EVENTS, Answer, Server, events, trace


def read_answer(s):
    """One answer with a Content-Length from a connection that stays open."""
    out = b''
    while b'\r\n\r\n' not in out:
        chunk = s.recv(65536)
        assert chunk, 'closed'
        out += chunk
    a = Answer(out)
    need = int(a.get('Content-Length'))
    while len(a.body) < need:
        a.body += s.recv(65536)
    return a


def test_keep_alive(server):
    """Answers on the loop, on a worker, and refusals leave the connection open."""
    with server.connect() as s:
        for target, status in [('/healthz', 200), ('/api/v1/sessions', 200), ('/nothing', 404),
                               ('/', 200), ('/a%00', 400), ('/healthz', 200)] * 3:
            s.sendall(f'GET {target} HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode())
            a = read_answer(s)
            assert (a.status, a.get('Connection')) == (status, None), target


def test_pipelining(server):
    one = f'GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n\r\n'
    last = one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    out = server.raw((one * 9 + last).encode())
    assert out.count(b'HTTP/1.1 200 OK') == 10


def test_raw_file_is_exact(server, session, profile_dir):
    want = next(profile_dir.rglob('alpha.trace.json.gz')).read_bytes()
    a = server.get(f'/trace/{session}/raw/alpha.trace.json.gz', 'Accept-Encoding: gzip')
    assert a.body == want
    assert a.get('Content-Encoding') is None
    assert a.get('Content-Type') == 'application/octet-stream'
    assert a.get('Accept-Ranges') == 'bytes'
    assert a.get('Content-Disposition') == (
        'attachment; filename="alpha.trace.json.gz"; filename*=UTF-8\'\'alpha.trace.json.gz')


RANGES = [('bytes=0-1', 206, slice(0, 2)), ('bytes=-2', 206, slice(-2, None)),
          ('bytes=5-', 206, slice(5, None)), ('bytes=0-99999999999999999999', 206, slice(None)),
          ('bytes=0-0', 206, slice(0, 1)), ('bytes=5-2', 416, None), ('bytes=-0', 416, None),
          ('bytes=99999999999999999999-', 416, None), ('bytes=x', 416, None),
          ('bytes=0-1,3-4', 200, slice(None)), ('lines=0-1', 200, slice(None))]


@pytest.mark.parametrize('value,status,part', RANGES)
def test_ranges(server, session, profile_dir, value, status, part):
    want = next(profile_dir.rglob('beta.trace.json')).read_bytes()
    a = server.get(f'/trace/{session}/raw/beta.trace.json', f'Range: {value}')
    assert a.status == status
    if status == 416:
        assert a.get('Content-Range') == f'bytes */{len(want)}'
        assert a.body == b''
        return
    assert a.body == want[part]
    if status == 206:
        start = part.indices(len(want))[0]
        assert a.get('Content-Range') == f'bytes {start}-{start + len(a.body) - 1}/{len(want)}'


def test_conditions(server, session):
    target = f'/trace/{session}/raw/beta.trace.json'
    etag = server.get(target).get('ETag')
    assert etag.startswith('"')
    for value in [etag, 'W/' + etag, '*', f'"x", {etag}']:
        a = server.get(target, f'If-None-Match: {value}')
        assert (a.status, a.body, a.get('ETag')) == (304, b'', etag)
    assert server.get(target, 'If-None-Match: "x"').status == 200
    assert server.get(target, 'If-Match: "x"').status == 412
    assert server.get(target, f'If-Match: {etag}').status == 200
    assert server.get(target, f'If-Range: {etag}', 'Range: bytes=0-1').status == 206
    assert server.get(target, 'If-Range: "x"', 'Range: bytes=0-1').status == 200
    for name in ['beta.json', 'beta.json.gz']:
        etag = server.get(f'/trace/{session}/{name}').get('ETag')
        assert server.get(f'/trace/{session}/{name}', f'If-None-Match: {etag}').status == 304


def test_etag_follows_the_file(profile_dir, tmp_path):
    run = tmp_path / 'plugins/profile/run1'
    run.mkdir(parents=True)
    path = run / 'a.trace.json'
    path.write_bytes(trace(3))
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    before = s.get(f'/trace/{ident}/a.json')
    path.write_bytes(trace(4))
    time.sleep(2.1)  # the list is not scanned again before
    s.get('/api/v1/sessions')
    after = s.get(f'/trace/{ident}/a.json')
    assert before.get('ETag') != after.get('ETag')
    assert len(own(json.loads(after.content()))) == 6
    s.stop()


@pytest.mark.parametrize('host,count', [('alpha', 1000), ('beta', 10), ('big', BIG_EVENTS)])
def test_perfetto_json(profile_dir, host, count):
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    a = s.get(f'/trace/{ident}/{host}.json')
    assert a.get('Transfer-Encoding') == 'chunked'
    got = json.loads(a.content())
    assert 'metadata' not in got
    assert own(got) == events(count)
    s.stop()


def test_perfetto_json_gz(server, session):
    a = server.get(f'/trace/{session}/big.json.gz')
    assert a.get('Content-Encoding') is None
    assert own(json.loads(gzip.decompress(a.content()))) == events(BIG_EVENTS)


FORMS = [('big.json', None, 'application/json'), ('big.json', 'gzip', 'application/json'),
         ('big.json.gz', None, 'application/gzip')]


@pytest.mark.parametrize('name,accept,kind', FORMS)
def test_a_conversion_that_was_sent_once_is_a_file(profile_dir, name, accept, kind):
    """The first answer is made while it is sent; from then on it has a length, ranges of the encoded
    bytes, and conditions, and is the same byte for byte."""
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    target, fields = f'/trace/{ident}/{name}', [f'Accept-Encoding: {accept}'] if accept else []
    first = s.get(target, *fields)
    again = s.get(target, *fields)
    assert (first.get('Transfer-Encoding'), first.get('Content-Length')) == ('chunked', None)
    assert again.get('Transfer-Encoding') is None
    assert int(again.get('Content-Length')) == len(again.body)
    assert again.body == first.content()
    for a in first, again:
        assert (a.status, a.get('Content-Type'), a.get('Content-Encoding')) == (200, kind, accept)
        assert a.get('ETag') == first.get('ETag')
    part = s.get(target, *fields, 'Range: bytes=100-199', f'If-Range: {first.get("ETag")}')
    assert (part.status, part.body) == (206, again.body[100:200])
    assert part.get('Content-Encoding') == accept
    assert part.get('Content-Range') == f'bytes 100-199/{len(again.body)}'
    assert s.get(target, *fields, f'If-None-Match: {first.get("ETag")}').status == 304
    head = s.request('HEAD', target, *fields)
    drop = ('Date',)
    assert [f for f in head.fields if f[0] not in drop] == [f for f in again.fields if f[0] not in drop]
    text = gzip.decompress(again.body) if name.endswith('.gz') or accept else again.body
    assert own(json.loads(text)) == events(BIG_EVENTS)
    s.stop()


def test_the_three_forms_have_three_tags(server, session):
    tags = set()
    for name, accept, _ in FORMS:
        tags.add(server.get(f'/trace/{session}/{name}', f'Accept-Encoding: {accept or "identity"}').get('ETag'))
    assert len(tags) == 3


def test_an_abandoned_conversion_is_not_kept(profile_dir):
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    start_stalled(s, f'/trace/{ident}/big.json').close()
    time.sleep(0.3)
    a = s.get(f'/trace/{ident}/big.json')
    assert a.get('Transfer-Encoding') == 'chunked'
    assert own(json.loads(a.content())) == events(BIG_EVENTS)
    s.stop()


def test_without_temporary_space_traces_are_sent_all_the_same(profile_dir, monkeypatch):
    monkeypatch.setenv('TMPDIR', '/nonexistent')
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    for _ in range(2):
        a = s.get(f'/trace/{ident}/big.json')
        assert a.get('Transfer-Encoding') == 'chunked'
        assert own(json.loads(a.content())) == events(BIG_EVENTS)
    s.stop()


def test_http_1_0_gets_no_chunks(server, session):
    a = server.request('GET', f'/trace/{session}/beta.json', version='1.0')
    assert a.get('Transfer-Encoding') is None
    assert own(json.loads(a.body)) == events(10)


def test_damage_cuts_the_connection(tmp_path):
    """A stream that fails half way must not look complete."""
    run = tmp_path / 'plugins/profile/run1'
    run.mkdir(parents=True)
    data = bytearray(gzip.compress(trace(200000), mtime=0))
    data[len(data) // 2] ^= 0xff
    (run / 'a.trace.json.gz').write_bytes(data)
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    a = s.get(f'/trace/{ident}/a.json')
    complete = a.body.endswith(b'0\r\n\r\n')
    if complete:  # then what came must be whole events, closed
        assert 0 < len(own(json.loads(a.content()))) < 200002
    s.stop()


def start_stalled(server, target):
    s = server.connect(small=True)
    s.sendall(f'GET {target} HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode())
    assert s.recv(10).startswith(b'HTTP/1.1 2')
    return s


def test_slow_clients_do_not_block_others(server, session):
    stalled = [start_stalled(server, f'/trace/{session}/big.json') for _ in range(8)]
    stalled += [start_stalled(server, f'/trace/{session}/raw/big.trace.json') for _ in range(8)]
    for _ in range(20):
        start = time.monotonic()
        assert server.get('/healthz').status == 200
        assert server.get('/').status == 200
        assert time.monotonic() - start < 15  # those that stall do so until the test ends
    for s in stalled:
        s.close()


def rest_of(s):
    """What still comes over a connection that ends, or is cut."""
    out = b''
    try:
        while chunk := s.recv(1 << 20):
            out += chunk
    except ConnectionError:
        pass
    return out


def test_too_many_streams_are_refused_not_queued(tmp_path):
    """Of a trace that is more than the sockets hold. Where the 40 do not begin within 3 s, one has made room."""
    run = tmp_path / 'plugins/profile/run'
    run.mkdir(parents=True)
    large = [{'ph': 'X', 'pid': 1, 'tid': 2, 'ts': i, 'dur': 1, 'name': 'a', 'args': {'text': 'x' * (1 << 20)}}
             for i in range(10)]
    (run / 'big.trace.json').write_text(json.dumps({'traceEvents': large}))
    server = Server(tmp_path)  # where nobody asked for a conversion before
    session = server.sessions()[0]['id']
    stalled = [server.connect(small=True) for _ in range(40)]
    for s in stalled:  # all before an answer: who has stood still for 3 s makes room
        s.sendall(f'GET /trace/{session}/big.json HTTP/1.1\r\nHost: {server.host}\r\n'
                  'Connection: close\r\n\r\n'.encode())
    answers = [s.recv(12)[-3:] for s in stalled]
    assert set(answers) <= {b'200', b'503'}
    if b'503' not in answers:
        assert any(not rest_of(s).endswith(b'\r\n0\r\n\r\n') for s in stalled)
    assert server.get('/healthz').status == 200
    for s in stalled:
        s.close()
    server.stop()


def steady(server):
    """The number of open descriptors, once it stays the same for half a second."""
    last, same = server.descriptors(), 0
    for _ in range(200):
        time.sleep(0.1)
        now = server.descriptors()
        same = same + 1 if now == last else 0
        last = now
        if same == 5:
            break
    return last


def test_aborted_downloads_leak_nothing(server, session):
    server.get(f'/trace/{session}/big.json.gz')
    before = steady(server)
    for i in range(30):
        kind = ['big.json', 'big.json.gz', 'raw/big.trace.json'][i % 3]
        s = start_stalled(server, f'/trace/{session}/{kind}')
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        s.close()
    for _ in range(10):  # a busy machine may need a moment to notice that they are gone
        after = steady(server)
        if after <= before:
            break
    assert after <= before


@pytest.mark.waits
@pytest.mark.parametrize('requests_before', [0, 1])
def test_a_dripping_head_is_cut(server, requests_before):
    """The first head of a connection, and one that follows an answer."""
    with server.connect(timeout=20) as s:
        for _ in range(requests_before):
            s.sendall(f'GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n\r\n'.encode())
            assert read_answer(s).status == 200
        start = time.monotonic()
        try:
            for c in f'GET /healthz HTTP/1.1\r\nHost: {server.host}\r\nX: ' + 'a' * 100:
                s.sendall(c.encode())
                s.settimeout(0.5)
                try:
                    if s.recv(100) == b'':
                        break
                except socket.timeout:
                    pass
        except (ConnectionResetError, BrokenPipeError):
            pass
    assert 8 < time.monotonic() - start < 40  # a head may take 10 s; this one would take 80


def test_stopping_lets_a_download_finish(profile_dir):
    (run,) = {p.parent for p in profile_dir.rglob('big.trace.json')}
    (run / 'mid.trace.json').write_bytes(trace(50_000))  # more than sockets hold, less than a sanitizer writes in 7 s
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    c = s.connect(timeout=20)
    c.sendall(f'GET /trace/{ident}/mid.json HTTP/1.1\r\nHost: {s.host}\r\n'
              'Connection: close\r\n\r\n'.encode())
    out = c.recv(1000)
    s.process.stdin.close()
    time.sleep(0.3)
    with pytest.raises(OSError):
        s.connect(timeout=2)
    while chunk := c.recv(1 << 20):
        out += chunk
    assert len(own(json.loads(Answer(out).content()))) == 50_000 + 2
    s.process.stdin = None
    assert s.stop() < 5


@pytest.mark.waits
def test_stopping_does_not_wait_for_ever(profile_dir):
    s = Server(profile_dir)
    ident = s.sessions()[0]['id']
    stalled = [start_stalled(s, f'/trace/{ident}/{n}') for n in ['big.json', 'raw/big.trace.json']]
    assert s.stop() < 20
    for c in stalled:
        c.close()


def test_idle_connections_do_not_delay_the_end(profile_dir):
    s = Server(profile_dir)
    idle = [s.connect() for _ in range(5)]
    idle[0].sendall(f'GET /healthz HTTP/1.1\r\nHost: {s.host}\r\n\r\n'.encode())
    assert read_answer(idle[0]).status == 200
    assert s.stop() < 3
    for c in idle:
        c.close()


@pytest.fixture(scope='module')
def large(tmp_path_factory):
    """A server and a file of 40 MB whose bytes tell their position."""
    root = tmp_path_factory.mktemp('large')
    run = root / 'plugins' / 'profile' / 'run1'
    run.mkdir(parents=True)
    content = trace(3) + b''.join(b'%15d\n' % i for i in range(2_500_000))
    content = content.replace(b',{}]}', b']}', 1)
    (run / 'large.trace.json').write_bytes(content)
    s = Server(root)
    yield s, f'/trace/{s.sessions()[0]["id"]}/raw/large.trace.json', content
    s.stop()


def test_a_large_file_is_exact(large):
    s, target, content = large
    a = s.get(target)
    assert int(a.get('Content-Length')) == len(content) == len(a.body)
    assert a.body == content
    assert a.get('Transfer-Encoding') is None and a.get('Connection') == 'close'
    head = s.request('HEAD', target)
    assert head.body == b''
    assert [f for f in head.fields if f[0] != 'Date'] == [f for f in a.fields if f[0] != 'Date']


@pytest.mark.parametrize('first,last', [(0, 4 << 20), (1, 4 << 20), (12345, 30_000_000), (20_000_000, None), (0, (4 << 20) - 1),
                                        (0, (4 << 20) - 2)])
def test_ranges_of_a_large_file(large, first, last):
    """Around the size from which a file is sent in large pieces."""
    s, target, content = large
    a = s.get(target, f'Range: bytes={first}-{"" if last is None else last}')
    want = content[first:] if last is None else content[first:last + 1]
    assert (a.status, int(a.get('Content-Length'))) == (206, len(want))
    assert a.body == want


@pytest.mark.waits
def test_a_large_file_for_many_at_different_speeds(large):
    s, target, content = large
    sockets = [s.connect(timeout=30, small=i % 2 == 0) for i in range(6)]
    for c in sockets:
        c.sendall(f'GET {target} HTTP/1.1\r\nHost: {s.host}\r\n\r\n'.encode())
    for c in reversed(sockets):  # the last one first: the others have to wait
        out = bytearray()
        while chunk := c.recv(1 << 20):
            out += chunk
        assert Answer(bytes(out)).body == content
        c.close()


def test_a_large_file_over_http_1_0_and_pipelined(large):
    s, target, content = large
    assert s.request('GET', target, version='1.0').body == content
    one = f'GET /healthz HTTP/1.1\r\nHost: {s.host}\r\n\r\n'
    out = s.raw((one + one.replace('/healthz', target)).encode())
    assert out.count(b'HTTP/1.1 200') == 2 and out.endswith(content)
