"""Who may ask, over the wire (the tables are in tests/unit/test_guard.c and test_path.c): the
advisories of docs/reference/security.md#advisories, and the framing of
docs/reference/http.md#request-checks as sent."""
import json
import socket

import pytest

from conftest import Answer, Server

PERFETTO = ['https://ui.perfetto.dev', 'http://localhost:10000', 'http://127.0.0.1:10000']
EVIL = ['https://evil.example', 'null', 'http://1.2.3.4', 'http://localhost:8080']


@pytest.mark.parametrize('host,status', [
    ('127.0.0.1:{p}', 200), ('localhost:{p}', 200), ('[::1]:{p}', 200), ('a.localhost:{p}', 200),
    ('127.0.0.1', 200), ('evil.example', 403), ('evil.example:{p}', 403), ('127.0.0.1:1', 403),
    ('localhost.evil.example:{p}', 403)])
def test_host(server, host, status):
    a = server.get('/healthz', host=host.format(p=server.port))
    assert a.status == status
    if status == 403:
        assert b'--allow-host' in a.body


def test_both_families(server):
    with server.connect(family=socket.AF_INET6) as s:
        s.sendall(f'GET /healthz HTTP/1.1\r\nHost: [::1]:{server.port}\r\n\r\n'.encode())
        assert s.recv(100).startswith(b'HTTP/1.1 200')


@pytest.mark.parametrize('method', ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
@pytest.mark.parametrize('origin', EVIL)
def test_foreign_origins_get_nothing(server, session, method, origin):
    for target in ['/', '/api/v1/sessions', f'/trace/{session}/beta.json', '/status']:
        a = server.request(method, target, f'Origin: {origin}')
        assert a.status == 403
        assert a.get('Access-Control-Allow-Origin') is None


@pytest.mark.parametrize('origin', PERFETTO)
def test_perfetto_reads_traces_and_nothing_else(server, session, origin):
    field = f'Origin: {origin}'
    for name in ['beta.json', 'beta.json.gz', 'alpha.json', 'nobody.json']:
        a = server.get(f'/trace/{session}/{name}', field)
        assert a.status == (404 if name == 'nobody.json' else 200)
        assert a.get('Access-Control-Allow-Origin') == origin
        assert a.get('Vary') == 'Accept-Encoding, Origin'
        assert a.get('Cross-Origin-Resource-Policy') is None
        assert a.get('Access-Control-Allow-Credentials') is None
    for target in ['/', f'/session/{session}/', '/api/v1/sessions', '/static/app.css', '/healthz',
                   f'/trace/{session}/raw/beta.trace.json', f'/api/v1/session/{session}/report']:
        a = server.get(target, field)
        assert a.status == 403, target
        assert a.get('Access-Control-Allow-Origin') is None


@pytest.mark.parametrize('origin', PERFETTO)
def test_perfetto_reads_that_nothing_is_there(server, session, origin):
    """Else its probe for a trace_processor is an error in its console."""
    for method, target in [('POST', '/status'), ('GET', '/status'), ('GET', '/nothing')]:
        a = server.request(method, target, f'Origin: {origin}', 'Content-Length: 0')
        assert (a.status, a.get('Access-Control-Allow-Origin')) == (404, origin), (method, target)
        assert a.get('Vary') == 'Accept-Encoding, Origin'
        assert session.encode() not in a.body
    assert server.request('POST', '/status').get('Access-Control-Allow-Origin') is None


def test_vary_without_origin_too(server, session):
    assert server.get(f'/trace/{session}/beta.json').get('Vary') == 'Accept-Encoding, Origin'


def test_own_origin(server, session):
    field = f'Origin: http://{server.host}'
    a = server.get(f'/trace/{session}/beta.json', field)
    assert a.status == 200 and a.get('Access-Control-Allow-Origin') is None
    assert server.get('/api/v1/sessions', field).status == 200


def test_preflight(server, session):
    target = f'/trace/{session}/beta.json'
    a = server.request('OPTIONS', target, 'Origin: https://ui.perfetto.dev',
                       'Access-Control-Request-Method: GET',
                       'Access-Control-Request-Private-Network: true')
    assert a.status == 204 and a.body == b''
    assert a.get('Access-Control-Allow-Origin') == 'https://ui.perfetto.dev'
    assert a.get('Access-Control-Allow-Methods') == 'GET, HEAD, OPTIONS'
    assert a.get('Access-Control-Allow-Headers') == 'Range, If-None-Match'
    assert a.get('Access-Control-Max-Age') == '600'
    assert a.get('Access-Control-Allow-Private-Network') == 'true'
    assert server.request('OPTIONS', target).status == 405
    assert server.request('OPTIONS', '/api/v1/sessions',
                          'Origin: https://ui.perfetto.dev').status == 403


def test_script_inclusion(server, session):
    a = server.get(f'/trace/{session}/beta.json', 'Sec-Fetch-Mode: no-cors',
                   'Sec-Fetch-Site: cross-site')
    assert a.status == 403


def wire(server, text):
    return Answer(server.raw(text.replace('{h}', server.host).encode('latin-1')))


@pytest.mark.parametrize('text,status', [
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nHost: {h}\r\n\r\n', 400),
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nHost: evil\r\n\r\n', 400),
    ('GET /healthz HTTP/1.1\r\n\r\n', 400),
    ('GET /healthz HTTP/1.0\r\n\r\n', 400),
    ('GET /healthz HTTP/1.1\r\nHost : {h}\r\n\r\n', 400),
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nX-A: b\r\n X-C: d\r\n\r\n', 400),
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nX A: b\r\n\r\n', 400),
    ('GET /a b HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n', 400),
    ('GET healthz HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n', 400),
    ('GET /healthz#x HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n', 400),
    ('GET http://{h}/healthz HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n', 200),
    ('GET http://evil.example/healthz HTTP/1.1\r\nHost: {h}\r\n\r\n', 400),
    ('POST /x HTTP/1.1\r\nHost: {h}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'
     '0\r\n\r\n', 400),
    ('POST /x HTTP/1.1\r\nHost: {h}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd', 400),
    ('POST /x HTTP/1.1\r\nHost: {h}\r\nContent-Length: -1\r\n\r\n', 400),
    ('POST /x HTTP/1.1\r\nHost: {h}\r\nContent-Length: 70000\r\n\r\n', 413),
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nContent-Length: 3\r\n\r\nabc', 413),
    ('GET /healthz HTTP/1.1\r\nHost: {h}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 413),
    ('GET /healthz HTTP/2.7\r\nHost: {h}\r\n\r\n', 505),
    ('GET /healthz HTTP/1.1\nHost: {h}\nConnection: close\n\n', 200),
    ('GET /' + 'a' * 5000 + ' HTTP/1.1\r\nHost: {h}\r\nConnection: close\r\n\r\n', 414),
    ('GET /' + 'a' * 40000 + ' HTTP/1.1\r\nHost: {h}\r\n\r\n', 414),
    ('GET / HTTP/1.1\r\nHost: {h}\r\nX: ' + 'a' * 40000 + '\r\n\r\n', 431),
    ('GET / HTTP/1.1\r\nHost: {h}\r\n' + 'X: 1\r\n' * 200 + '\r\n', 431),
    ('GET / HTTP/1.1\r\nHost: {h}\r\n' + 'X: 1\r\n' * 2000 + '\r\n', 431),
])
def test_framing(server, text, status):
    assert wire(server, text).status == status


def test_nothing_is_smuggled_behind_a_refused_body(server):
    inner = f'GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n\r\n'
    for head in ['Content-Length: 0\r\nTransfer-Encoding: chunked',
                 f'Content-Length: {len(inner)}']:
        out = server.raw(f'GET / HTTP/1.1\r\nHost: {server.host}\r\n{head}\r\n\r\n{inner}'.encode())
        assert out.count(b'HTTP/1.1 ') == 1


@pytest.mark.parametrize('path', [
    '/../etc/passwd', '/%2e%2e/etc/passwd', '/..%2f..%2fetc/passwd', '/..%5c..%5cetc', '/a//b', '//',
    '//evil.example/', '/\\evil.example', '/a%00', '/a%0d%0aSet-Cookie:%20x=1', '/%ff', '/%zz',
    '/trace/{s}/raw/../raw/beta.trace.json', '/trace/{s}/raw/%2e%2e/beta.trace.json',
    '/trace/{s}/raw/..%2fbeta.trace.json', '/static/..%2fapp.css'])
def test_refused_paths(server, session, path):
    a = server.get(path.replace('{s}', session))
    assert a.status == 400
    assert a.all('Set-Cookie') == []


@pytest.mark.parametrize('path', [
    '/.hidden', '/%252e%252e/etc/passwd', '/trace/{s}/raw/.hidden.trace.json',
    '/trace/{s}/raw/profile-secret', '/trace/{s}/raw/%252e%252e', '/trace/{s}/raw/x.txt',
    '/trace/{s}/raw/', '/trace/{s}/..json', '/trace/none/raw/beta.trace.json', '/static/none',
    '/session/plugins/', '/trace/{s}/beta.trace.json', '/trace/{s}/beta', '/trace/{s}/.json'])
def test_names_that_are_not_in_the_index(server, session, path):
    assert server.get(path.replace('{s}', session)).status == 404


def test_hidden_files_are_not_listed(server):
    assert b'hidden' not in server.get('/api/v1/sessions').content()


def test_missing_slash_redirects_within_us(server, session):
    a = server.get(f'/session/{session}?group=scope')
    assert (a.status, a.get('Location')) == (308, f'/session/{session}/?group=scope')


TOKEN = '00112233445566778899aabbccddeeff'


@pytest.fixture(scope='module')
def guarded(profile_dir):
    s = Server(profile_dir, 'host', '0.0.0.0', 'token', TOKEN)
    yield s
    s.stop()


def test_token(guarded):
    assert guarded.url.endswith('/?token=' + TOKEN)
    a = guarded.get('/api/v1/sessions')
    assert (a.status, a.get('WWW-Authenticate')) == (401, 'Bearer')
    assert guarded.get('/').status == 401
    assert guarded.get('/nothing').status == 401
    assert guarded.get('/healthz').status == 200
    assert guarded.get('/api/v1/sessions', f'Authorization: Bearer {TOKEN}').status == 200
    assert guarded.get('/api/v1/sessions', f'Authorization: Bearer {TOKEN}0').status == 401
    assert guarded.get(f'/?token={TOKEN[:-1]}').status == 401


HTML = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8'
PAGE_403 = 'Access denied'


def page_of(answer, status):
    assert answer.status == status
    assert answer.get('Content-Type') == 'text/html; charset=utf-8'
    assert answer.get('Cache-Control') == 'no-store'
    for name in ['Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy',
                 'Cross-Origin-Opener-Policy', 'Cross-Origin-Resource-Policy', 'Permissions-Policy']:
        assert answer.get(name), name
    return answer.content().decode()


def test_a_person_without_the_token_reads_where_it_is(guarded, session):
    for target in ['/', '/nothing', f'/session/{session}/', f'/trace/{session}/beta.json']:
        a = guarded.get(target, HTML)
        page = page_of(a, 401)
        assert a.get('WWW-Authenticate') == 'Bearer'
        assert 'Token required' in page and '?token=…' in page
        assert session not in page and TOKEN not in page
        assert 'href' not in page and 'src' not in page and 'view_profile 0' not in page  # nor may it load anything
    assert guarded.get('/static/app.css').status == 401
    a = guarded.get('/api/v1/sessions', HTML)  # for programs, whoever asks
    assert (a.status, a.get('Content-Type')) == (401, 'application/json')


@pytest.mark.parametrize('fields, host', [([], 'evil.example'), (['Origin: https://evil.example'], None),
                                          (['Origin: null'], None)])
def test_a_page_for_strangers_holds_nothing(server, session, fields, host):
    pages = {page_of(server.get(target, HTML, *fields, host=host), 403)
             for target in ['/', f'/session/{session}/', '/nothing', '/api/v1/sessions']}
    (page,) = pages  # whatever was asked for
    assert PAGE_403 in page
    for thing in [session, 'evil', 'href', 'src', str(server.port), 'view_profile 0']:
        assert thing not in page, thing


def test_a_form_at_the_wrong_address_gets_a_page(server, session):
    a = server.request('POST', f'/session/{session}/', HTML, f'Origin: http://{server.host}', 'Content-Length: 0')
    page = page_of(a, 405)
    assert a.get('Allow') == 'GET, HEAD'
    assert 'Method not allowed' in page and 'href="../../"' in page
    plain = server.request('POST', f'/session/{session}/', f'Origin: http://{server.host}', 'Content-Length: 0')
    assert plain.get('Content-Type') == 'text/plain; charset=utf-8'
    head = server.request('HEAD', '/nothing', HTML)
    assert head.status == 404 and not head.body


def test_token_becomes_a_cookie(guarded):
    a = guarded.get(f'/session/x/?n=5&token={TOKEN}&by=max')
    name = f'view_profile_{guarded.port}'
    assert a.status == 303
    assert a.get('Location') == '/session/x/?n=5&by=max'
    assert a.get('Set-Cookie') == f'{name}={TOKEN}; Path=/; HttpOnly; SameSite=Strict'
    assert guarded.get('/api/v1/sessions', f'Cookie: {name}={TOKEN}').status == 200


def test_token_is_made_off_loopback(profile_dir):
    urls = []
    for _ in range(2):
        s = Server(profile_dir, 'host', '0.0.0.0')
        urls.append(s.url)
        assert s.get('/').status == 401
        s.stop()
    tokens = [u.split('token=')[1] for u in urls]
    assert all(len(t) == 32 for t in tokens) and tokens[0] != tokens[1]


def test_any_address_literal_but_no_name_when_bound_to_all(guarded):
    assert guarded.get('/healthz', host=f'10.9.8.7:{guarded.port}').status == 200
    assert guarded.get('/healthz', host=f'evil.example:{guarded.port}').status == 403


def test_allowed_by_option(profile_dir):
    s = Server(profile_dir, 'allow-host', 'gpu17', 'allow-origin', 'https://perfetto.corp.example')
    ident = s.sessions()[0]['id']
    assert s.get('/healthz', host=f'gpu17:{s.port}').status == 200
    a = s.get(f'/trace/{ident}/beta.json', 'Origin: https://perfetto.corp.example')
    assert a.get('Access-Control-Allow-Origin') == 'https://perfetto.corp.example'
    s.stop()


def test_ports(profile_dir):
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=f'port {port} is in use'):
            Server(profile_dir, 'port', port)
    first = Server(profile_dir, 'port', -1)
    second = Server(profile_dir, 'port', -1)
    assert 9001 <= first.port < second.port <= 9021
    first.stop()
    second.stop()
    with pytest.raises(RuntimeError, match='not an IP address'):
        Server(profile_dir, 'host', 'evil.example')
    with pytest.raises(RuntimeError):
        Server(profile_dir / 'missing')


@pytest.mark.parametrize('key', ['token', 'to%6ben', '%74oken', '%74%6F%6b%65%6E'])
def test_a_token_leaves_the_address_however_it_is_written(guarded, key):
    a = guarded.get(f'/session/x/?&n=5&&{key}={TOKEN}&by=max&token=other')
    assert a.status == 303
    assert a.get('Location') == '/session/x/?n=5&by=max'
    assert a.get('Cache-Control') == 'no-store'


def test_refusals_are_not_for_other_askers(server, session):
    """Whoever keeps a 403 must not give it to an origin that may read."""
    for target in [f'/trace/{session}/beta.json', f'/trace/{session}/raw/beta.trace.json', '/']:
        for field in ['Origin: https://evil.example', 'Origin: https://ui.perfetto.dev', 'Sec-Fetch-Site: cross-site']:
            a = server.get(target, field, *(['Sec-Fetch-Mode: no-cors'] if 'Sec' in field else []))
            assert a.status == 403 or 'perfetto' in field
            assert 'Origin' in (a.get('Vary') or ''), (target, field)


def test_etags_tell_nothing_of_the_disk(server, session, profile_dir):
    import os
    from conftest import RUN
    path = profile_dir / 'plugins' / 'profile' / RUN / 'beta.trace.json'
    st = os.stat(path)
    for name in ['raw/beta.trace.json', 'beta.json', 'beta.json.gz']:
        etag = server.get(f'/trace/{session}/{name}').get('ETag')
        assert etag
        for number in [st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns]:
            if number > 0xffffff:  # fewer digits stand in a hash by chance
                assert f'{number:x}' not in etag and str(number) not in etag
        assert etag == server.get(f'/trace/{session}/{name}').get('ETag')


def test_a_file_that_has_changed_is_asked_for_again(tmp_path):
    """Between a change and the next look at the directory: 503, or the new file; never 500."""
    import os
    from conftest import RUN, trace
    run = tmp_path / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    path = run / 'a.trace.json'
    path.write_bytes(trace(3))
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    seen = set()
    for i in range(40):
        path.write_bytes(trace(3) + b'\n' * (i + 1))
        for name in ['raw/a.trace.json', 'a.json', 'a.json.gz']:
            seen.add(s.get(f'/trace/{ident}/{name}').status)
    assert seen <= {200, 409, 503} and seen != {200}, seen
    s.stop()
