"""Every method on every route, the routes taken from the program itself: a new one is tested without
being named here."""
import pathlib
import re

import pytest

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / 'docs/reference/http.md'
KNOWN = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT']
UNKNOWN = ['get', 'BREW', 'PROPFIND']
EVIL = ['https://evil.example', 'null', 'http://1.2.3.4', 'http://localhost:1']


def address(pattern, session):
    """A pattern with something real in its places. A TensorBoard would be started for a real run."""
    parts = ['none' if pattern.startswith('/tensorboard') else session, 'beta.json']
    if pattern == '/static/{}':
        parts = ['app.css']
    if '/raw/' in pattern:
        parts[1] = 'beta.trace.json'
    if pattern.startswith('/compare') or '/compare/' in pattern:
        parts[1] = session
    for part in parts:
        pattern = pattern.replace('{}', part, 1)
    return pattern


@pytest.fixture(scope='module')
def routes(server, session):
    found = [(*r[:4], address(r[4], session)) for r in server.routes()]
    assert len(found) >= 17 and all('{}' not in r[4] for r in found)
    return found


def allowed(get, post, cors):
    return (['GET', 'HEAD'] if get else []) + (['POST'] if post else []) + (['OPTIONS'] if cors else [])


def test_methods(server, routes):
    """What a route does not take is 405 with what it takes, what nobody knows is 501; nothing fails."""
    for get, post, cors, _, target in routes:
        for method in KNOWN + UNKNOWN:
            a = server.request(method, target, 'Content-Length: 0')
            if method in UNKNOWN:
                assert a.status == 501, (method, target)
            elif method in ('GET', 'HEAD') and get:
                assert a.status in (200, 303, 400, 404, 422), (method, target, a.body)
            elif method == 'POST' and post:
                assert a.status == 403, (method, target)  # without Origin or Sec-Fetch-Site of ours
            else:
                assert a.status == 405, (method, target)
                assert set(a.get('Allow').split(', ')) == set(allowed(get, post, cors)), (method, target)


def test_the_reference_lists_every_route(server):
    """docs/reference/http.md has one row per route and method, and no others."""
    exist = [(method, pattern) for get, post, _, _, pattern in server.routes()
             for method, takes in [('GET', get), ('POST', post)] if takes]
    rows = re.findall(r'^\| `([A-Z]+) (/[^`?]*)` \| (.+) \|$', REFERENCE.read_text(), re.M)
    listed = [(method, re.sub(r'{\w+}', '{}', path)) for method, path, _ in rows]
    assert sorted(listed) == sorted(exist)


def test_the_reference_says_who_may_ask(server):
    """It names the routes that need no token, and those that allowed origins may read."""
    text = REFERENCE.read_text()
    for get, _, cors, is_open, pattern in server.routes():
        path = re.sub(r'\\{\\}', r'{\\w+}', re.escape(pattern))
        row = re.search(rf'^\| `{"GET" if get else "POST"} {path}` \| (.+) \|$', text, re.M).group(1)
        assert ('Needs no token' in row) == is_open, pattern
        assert ('Readable by allowed origins' in row) == cors, pattern


def test_foreign_host_reaches_no_route(server, session, routes):
    for *_, target in routes:
        for method in KNOWN:
            a = server.request(method, target, host='evil.example')
            assert a.status == 403, (method, target)
            assert session.encode() not in a.body and not a.all('Access-Control-Allow-Origin')


@pytest.mark.parametrize('origin', EVIL)
def test_foreign_origin_reaches_no_route(server, session, routes, origin):
    for *_, target in routes:
        for method in KNOWN:
            a = server.request(method, target, f'Origin: {origin}')
            assert a.status == 403, (method, target)
            assert session.encode() not in a.body and not a.all('Access-Control-Allow-Origin')


def test_a_listed_origin_reads_traces_only(server, routes):
    for _, _, cors, _, target in routes:
        for method in KNOWN:
            a = server.request(method, target, 'Origin: https://ui.perfetto.dev')
            assert (a.status != 403) == cors, (method, target)
            assert bool(a.all('Access-Control-Allow-Origin')) == cors, (method, target)


@pytest.mark.parametrize('fields,status', [
    ([], 403), (['Sec-Fetch-Site: same-site'], 403), (['Sec-Fetch-Site: cross-site'], 403),
    (['Sec-Fetch-Site: same-origin'], 415), (['Sec-Fetch-Site: none'], 415), (['Origin: http://{h}'], 415),
    (['Origin: http://{h}', 'Content-Type: text/plain'], 415),
    (['Origin: http://{h}', 'Content-Type: application/x-www-form-urlencoded'], 415),
    (['Origin: http://{h}', 'Content-Type: multipart/form-data; boundary=application/json'], 415),
    (['Content-Type: application/json'], 403),
    (['Content-Type: application/json', 'Sec-Fetch-Site: same-site'], 403)])
def test_changes_need_our_page_and_json(server, routes, fields, status):
    posts = [r[4] for r in routes if r[1]]
    assert posts
    for target in posts:
        a = server.request('POST', target, *(f.format(h=server.host) for f in fields), 'Content-Length: 2', body=b'{}')
        assert a.status == status, target


def test_head_is_get_without_body(server, routes):
    """Byte for byte except the date, for every route that answers from memory or a file."""
    for get, *_, target in routes:
        if not get or target == '/metrics':  # which counts the requests themselves
            continue
        server.get(target)  # what is made while it is sent is a file from now on
        a, b = server.get(target), server.request('HEAD', target)
        assert b.body == b'' and a.status == b.status, target
        assert [f for f in a.fields if f[0] != 'Date'] == [f for f in b.fields if f[0] != 'Date'], target


def test_a_token_guards_every_route_but_liveness(profile_dir):
    from conftest import Server
    s = Server(profile_dir, 'token', '0123456789abcdef0123456789abcdef')
    for get, _, _, is_open, pattern in s.routes():
        for method in KNOWN:
            a = s.request(method, address(pattern, 'none'))
            assert (a.status == 401) == (not is_open), (method, pattern, a.status)
    s.stop()
