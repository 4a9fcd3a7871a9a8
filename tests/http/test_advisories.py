"""The advisories of docs/reference/security.md#advisories, each as a test that bears its number.
The same things are looked at from other sides in

  tests/browser/run.mjs                a rebound page reads nothing; <script> of another site (XSSI);
                                       names as XSS in a real browser
  tests/unit/test_hostile_archives.c   zip slip, links, devices (libarchive 746, unblob 179, minizip-ng
                                       1039), and bombs
  tests/unit/test_guard.c              tokens are compared in the same number of steps
  tests/fuzz/fuzz_socket.c             libmicrohttpd's own parser (CVE-2025-59777, CVE-2025-62689)
"""
import ctypes
import glob
import os
import pathlib
import re
import struct
import subprocess
import tempfile

import pytest

import load
from conftest import ROOT, RUN, Server, trace

SECRET = b'the secret of this test'


def run_of(directory, name=RUN):
    run = directory / 'plugins' / 'profile' / name
    run.mkdir(parents=True)
    return run


# ---- Who may ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize('host', ['evil.example', 'evil.example:{p}', 'localhost.evil.example:{p}', '127.0.0.1.evil.example',
                                  '169.254.169.254', '127.0.0.1:{q}', 'localhost@evil.example'])
@pytest.mark.parametrize('agent', ['Mozilla/5.0', 'curl/8', ''])
def test_cve_2025_24010_cve_2025_62593_cve_2025_66414_dns_rebinding(server, session, host, agent):
    """vite (GHSA-vg6x-rcgg-rjx6), Ray, the MCP SDK and jupyter (notebook issue 1830) judged no Host, or the
    User-Agent, which fetch() sets."""
    for target in ['/', '/api/v1/sessions', f'/trace/{session}/beta.json', f'/session/{session}/']:
        a = server.get(target, f'User-Agent: {agent}', host=host.format(p=server.port, q=server.port ^ 1))
        assert a.status == 403 and session.encode() not in a.body
        assert not [n for n, _ in a.fields if n.startswith('Access-Control')]


@pytest.mark.parametrize('origin', ['https://evil.example', 'http://evil.example', 'null', 'http://127.0.0.1',
                                    'https://ui.perfetto.dev.evil.example'])
def test_ghsa_67mh_4wv8_2f99_any_site_reads(server, session, origin):
    """esbuild answered every site with Access-Control-Allow-Origin: *."""
    for target in ['/', '/api/v1/sessions', f'/trace/{session}/beta.json', '/nothing']:
        a = server.get(target, f'Origin: {origin}')
        assert a.status == 403 and not a.all('Access-Control-Allow-Origin')
    assert server.get(f'/trace/{session}/beta.json').all('Access-Control-Allow-Origin') == []


@pytest.mark.parametrize('origin', ['http://1.2.3.4', 'http://192.168.0.1:9001', 'http://[::2]', 'http://0.0.0.0', 'http://127.0.0.2'])
def test_cve_2025_30360_cve_2018_14732_origin_by_address(server, session, origin):
    """webpack-dev-server trusted origins that are IP addresses."""
    assert server.get(f'/trace/{session}/beta.json', f'Origin: {origin}').status == 403


@pytest.mark.parametrize('target', ['/api/v1/sessions', '/trace/{s}/beta.json', '/trace/{s}/raw/beta.trace.json'])
def test_cve_2025_30359_cve_2019_9644_script_inclusion(server, session, target):
    """webpack-dev-server and jupyter let a <script> of another site load data."""
    target = target.replace('{s}', session)
    assert server.get(target, 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Site: cross-site').status == 403
    a = server.get(target)  # browsers without Sec-Fetch-*
    assert a.get('Cross-Origin-Resource-Policy') == 'same-origin'
    assert a.get('X-Content-Type-Options') == 'nosniff'
    assert 'javascript' not in a.get('Content-Type')


@pytest.mark.parametrize('method', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'])
def test_cve_2026_27482_forgotten_method(server, method):
    """Ray fenced POST and PUT and forgot DELETE. test_routes.py asks all routes."""
    for origin in ['https://evil.example', 'null']:
        assert server.request(method, '/api/v1/rescan', f'Origin: {origin}', 'Content-Type: application/json',
                              'Content-Length: 0').status == 403


# ---- What may be asked for --------------------------------------------------------------------------


def test_cve_2026_35397_prefix_of_the_root(tmp_path):
    """jupyter compared paths by startswith(): /srv/data-secret is not in /srv/data."""
    run = run_of(tmp_path / 'data')
    (run / 'a.trace.json').write_bytes(trace(1))
    (tmp_path / 'data-secret').mkdir()
    (tmp_path / 'data-secret' / 'b.trace.json').write_bytes(SECRET)
    s = Server(tmp_path / 'data')
    ident = s.sessions()[0]['id']
    for target in ['/data-secret/b.trace.json', f'/trace/{ident}/raw/..%2f..%2f..%2f..%2fdata-secret%2fb.trace.json',
                   f'/trace/{ident}/raw/b.trace.json', '/trace/data-secret/raw/b.trace.json', '/session/data-secret/']:
        a = s.get(target)
        assert a.status in (400, 404) and SECRET not in a.body
    s.stop()


def test_cve_2022_29238_dotfiles(server, session, profile_dir):
    """jupyter served hidden files that it did not list."""
    assert b'hidden' not in server.get('/api/v1/sessions').content()
    for name in ['.hidden.trace.json', '%2ehidden.trace.json', '.hidden.json', '.hidden']:
        for target in [f'/trace/{session}/raw/{name}', f'/trace/{session}/{name}', f'/{name}']:
            assert server.get(target).status == 404


TRAVERSALS = [
    # tensorboard issue 3134, mlflow CVE-2023-1177, CVE-2023-6909, CVE-2023-6977, CVE-2024-1483, CVE-2024-3848
    *(f'{base}{up * n}etc/passwd' for base in ['/', '/static/', '/trace/{s}/raw/'] for n in (1, 8)
      for up in ['../', '..%2f', '%2e%2e/', '%2e%2e%2f', '%252e%252e%252f', '..%5c', '..\\', '%c0%ae%c0%ae/', '..%00/', './..//']),
    '/static/%2fetc%2fpasswd', '/trace/{s}/raw/%2fetc%2fpasswd', '/trace/{s}/raw/file:%2f%2f%2fetc%2fpasswd',
    '/trace/%2e%2e/raw/passwd', '/session/..%2f..%2fetc/', '/static/#/../../../etc/passwd', '//etc/passwd', '///etc/passwd',
    # vite CVE-2025-30208, CVE-2025-32395; esbuild GHSA-g7r4-m6w7-qqqr
    '/etc/passwd?raw??', '/@fs/etc/passwd?raw??', '/@fs/etc/passwd?import&raw??', '/@fs/x/#/../../etc/passwd',
    '/static/..\\..\\etc\\passwd', '/proc/self/environ', '/proc/self/cwd/etc/passwd']


@pytest.mark.parametrize('target', TRAVERSALS)
def test_traversal_cve_2023_1177_cve_2023_6909_cve_2024_3848_cve_2025_30208_cve_2025_32395(server, session, target):
    a = server.get(target.replace('{s}', session))
    assert a.status in (400, 404), a.body[:200]
    assert b'root:' not in a.body and b'PATH=' not in a.body


class Watched:
    """Counts who opens or reads a file (inotify)."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK)
        assert libc.inotify_add_watch(self.fd, str(path).encode(), 0x1 | 0x20) >= 0  # IN_ACCESS, IN_OPEN

    def events(self):
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return 0
        return len(data) // struct.calcsize('iIII')


def test_tensorboard_7115_7119_paths_inside_data_are_not_followed(tmp_path):
    """TensorBoard's projector opened the paths that a file in the log directory named."""
    bait = tmp_path / 'bait.txt'
    bait.write_bytes(SECRET)
    run = run_of(tmp_path / 'logs')
    source = f'{bait}:1'.encode()
    args = b'{"source":"%s","path":"%s","long_name":"%s","file":"file://%s","tf_op":"%s:op"}' % (
        source, bytes(bait), bytes(bait), bytes(bait), bytes(bait))
    (run / 'a.trace.json').write_bytes(trace(3).replace(b'"dur": 7', b'"dur": 7, "args": ' + args))
    os.symlink(bait, run / 'b.trace.json')
    os.symlink(tmp_path, run / 'c')
    watch = Watched(bait)
    bait.read_bytes()
    assert watch.events() > 0  # it would be seen
    s = Server(tmp_path / 'logs')
    ident = s.sessions()[0]['id']
    for *_, pattern in s.routes():
        if not pattern.startswith('/tensorboard'):
            target = pattern.replace('{}', ident, 1).replace('{}', 'b.trace.json' if 'raw' in pattern else ident)
            assert SECRET not in s.get(target).body
    for name in ['raw/a.trace.json', 'raw/b.trace.json', 'raw/c', 'a.json', 'b.json', 'a.json.gz']:
        assert SECRET not in s.get(f'/trace/{ident}/{name}').body
    s.stop()
    assert watch.events() == 0


# ---- What is shown ----------------------------------------------------------------------------------


@pytest.mark.parametrize('name', ['"><img src=x onerror=alert(1)>', "'><script>alert(1)<", '<svg onload=alert(1)>',
                                  'a\x1b[2J\x1b]0;x\x07', 'a\rSet-Cookie: x=1', 'a\nSet-Cookie: x=1', 'a\u202egnp.\u2066'])
def test_cve_2015_6938_cve_2018_19352_names_are_text(tmp_path, name):
    """jupyter put names of files and directories into pages as they were. The browser's part is in run.mjs."""
    run = run_of(tmp_path, name)
    (run / 'a.trace.json').write_bytes(trace(3).replace(b'fusion.1', b'<img src=y onerror=alert(2)>'))
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    assert re.fullmatch(r'[A-Za-z0-9._~-]+', ident)
    for target in ['/', f'/session/{ident}/', f'/perfetto/{ident}', f'/compare/{ident}/{ident}', '/api/v1/sessions',
                   f'/api/v1/session/{ident}/report']:
        a = s.get(target)
        assert a.status == 200, target
        assert not a.all('Set-Cookie')
        body = a.content()
        if a.get('Content-Type').startswith('text/html'):
            for bad in [b'<img src=x', b'<img src=y', b'<script>alert', b'<svg onload', '\u202e'.encode()]:
                assert bad not in body, target
        assert b'\x1b' not in body and b'\x07' not in body
    s.stop()


@pytest.mark.parametrize('text', ['%0d%0aSet-Cookie:%20x=1', '%0aHTTP/1.1%20200%20OK%0a', '%1b%5b2J', '%00', '%22%3e%3cscript%3e'])
def test_cve_2018_18836_to_18839_netdata_4521_injection_and_disclosure(server, session, profile_dir, text):
    """netdata put request bytes into headers, logs and JSON, and paths of the machine into errors. (The access
    log has unit tests of its own.)"""
    for target in [f'/{text}', f'/session/{text}/', f'/trace/{session}/{text}', f'/compare/{session}/{session}?by={text}',
                   f'/api/v1/session/{session}/report?by={text}', f'/api/v1/session/{session}/report?n={text}', f'/static/{text}']:
        a = server.get(target)
        assert a.status < 500, target
        assert not a.all('Set-Cookie')
        assert b'<script>' not in a.body or a.get('Content-Type') in ('application/json', 'text/plain; charset=utf-8')
        assert b'\x1b' not in a.body and b'\x00' not in a.body
        assert str(profile_dir).encode() not in a.body and b'/home/' not in a.body and b'/tmp/' not in a.body


@pytest.mark.parametrize('target', ['//evil.example', '//evil.example/', '/\\evil.example', '/%5cevil.example', '/%2f%2fevil.example',
                                    '/session//evil.example', '//evil.example/%2e%2e', '/perfetto//evil.example', '/http://evil.example',
                                    '/compare?a=//evil.example&b=//evil.example', '/compare?a=http://evil.example&b=x',
                                    '/tensorboard//evil.example', '/?token=//evil.example'])
def test_cve_2019_10856_open_redirect(server, target):
    """jupyter redirected to //evil.example. What we add a slash to is a path of ours."""
    a = server.get(target)
    for location in a.all('Location'):
        assert not re.match(r'^(//|/\\|[a-z]+:)', location), location
        assert not location.startswith('/..')
    for target in ['/session/x', '/session/x?y=//evil.example']:
        a = server.get(target)
        assert a.status == 308 and not a.get('Location').startswith('//')


# ---- Secrets ------------------------------------------------------------------------------------------


def program():
    return os.environ.get('VIEW_PROFILE') or os.path.join(os.environ.get('VP_BUILD') or f'{ROOT}/build/dev', 'view_profile')


def test_cve_2024_23770_secret_in_the_command_line(tmp_path):
    """darkhttpd took its password as an argument, for everybody to see in ps."""
    (run_of(tmp_path) / 'a.trace.json').write_bytes(trace(1))
    token = 'f00dfacef00dfacef00dfacef00dface'
    (tmp_path / 'token').write_text(token)
    os.chmod(tmp_path / 'token', 0o600)
    help_text = subprocess.run([program(), 'serve', '--help'], capture_output=True, text=True).stdout
    assert '--token-file' in help_text and not re.search(r'--token[ =]', help_text)
    p = subprocess.Popen([program(), '--profile-dir', str(tmp_path), '--host', '127.0.0.1', '--port', '0', '--no-browser',
                          '--token-file', str(tmp_path / 'token')], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert b'http' in p.stdout.readline()
        with open(f'/proc/{p.pid}/cmdline', 'rb') as f:
            assert token.encode() not in f.read()
    finally:
        p.terminate()
        p.communicate()


def test_cve_2024_23771_cve_2026_27480_timing_of_the_secret(profile_dir):
    """The number of steps is tested in test_guard.c; here: no prefix of the token gets further than another text."""
    token = '0123456789abcdef0123456789abcdef'
    s = Server(profile_dir, 'token', token)
    answers = {s.get('/', f'Authorization: Bearer {t}').body for t in ['x', token[:-1], token[:-1] + 'x', token + 'x', token.upper()]}
    assert len(answers) == 1
    assert s.get('/', f'Authorization: Bearer {token}').status == 200
    s.stop()


def test_cve_2026_40934_stale_sessions(profile_dir):
    """jupyter's cookies outlived a change of the password: ours are of the token, which is new at every start."""
    old = Server(profile_dir, 'host', '0.0.0.0')
    token = old.url.split('token=')[1]
    answer = old.get(f'/?token={token}')
    cookie = answer.get('Set-Cookie').split(';')[0]
    assert old.get('/', f'Cookie: {cookie}').status == 200
    port = old.port
    old.stop()
    new = Server(profile_dir, 'host', '0.0.0.0', 'port', port)
    assert new.url.split('token=')[1] != token
    assert new.get('/', f'Cookie: {cookie}').status == 401
    assert new.get(f'/?token={token}').status == 401
    assert new.get('/', f'Authorization: Bearer {token}').status == 401
    new.stop()


# ---- Odd input ----------------------------------------------------------------------------------------


@pytest.fixture
def any_time():
    """A directory in memory: other file systems cut times to what they can hold."""
    with tempfile.TemporaryDirectory(dir='/dev/shm') as name:
        yield pathlib.Path(name)


@pytest.mark.parametrize('seconds', [-1, 0, 1 << 33, (1 << 33) + 0.5, 1 << 40])
def test_cve_2020_25691_absurd_mtime(any_time, seconds):
    """darkhttpd ended when a file's time could not be written as a date."""
    tmp_path = any_time
    run = run_of(tmp_path)
    (run / 'a.trace.json').write_bytes(trace(2))
    os.utime(run / 'a.trace.json', (seconds, seconds))
    assert (run / 'a.trace.json').stat().st_mtime == seconds
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    for target in ['/', f'/session/{ident}/', f'/trace/{ident}/raw/a.trace.json', f'/trace/{ident}/a.json']:
        for field in ['X: y', 'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT', 'If-Range: Sun, 06 Nov 1994 08:49:37 GMT',
                      'If-Unmodified-Since: Fri, 31 Dec 9999 23:59:59 GMT']:
            a = s.get(target, field)
            assert a.status == 200, (target, field)
            assert a.get('Last-Modified') is None
    s.stop()


def test_cve_2025_52887_headers_without_end(server):
    """cpp-httplib kept every header of a request: 10,000 of them, again and again, leave no trace."""
    def burden():
        for _ in range(50):
            out = server.raw(f'GET / HTTP/1.1\r\nHost: {server.host}\r\n'.encode() + b'X-A: b\r\n' * 10_000 + b'\r\n')
            assert out.startswith(b'HTTP/1.1 431') or out == b''
    burden()
    before = load.settled(server.process.pid).rss
    burden()
    assert load.settled(server.process.pid).rss <= before * 1.05 + (4 << 20)


def test_cve_2023_27371_no_post_processor():
    """libmicrohttpd's parser of forms read out of bounds: nothing of ours uses it, or its WebSockets
    (CVE-2025-59777, CVE-2025-62689)."""
    for path in glob.glob(f'{ROOT}/server/**/*.[ch]', recursive=True):
        with open(path, encoding='utf-8') as f:
            text = f.read()
        assert 'MHD_create_post_processor' not in text and 'MHD_post_process' not in text and 'microhttpd_ws' not in text
