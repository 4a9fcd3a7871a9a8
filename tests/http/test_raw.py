"""Every row of raw_table.tsv, over the wire: to us, and the same bytes to nginx. Where nginx answers
otherwise the table says how and why; a difference that it does not explain fails, and so does an
explanation of a difference that is none."""
import gzip
import json
import os
import shutil
import socket
import subprocess
import time

import pytest

import raw
from conftest import RUN, Server, trace

SECONDS = 784111777  # Sun, 06 Nov 1994 08:49:37 GMT, the date in RFC 9110
SIZE = 1000
ROWS = raw.rows()
NGINX = '''
daemon off;
master_process off;
worker_processes 1;
pid {prefix}/pid;
error_log stderr crit;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    default_type application/octet-stream;
    if_modified_since before;
    gzip_static on;
    client_max_body_size 64k;
    lingering_timeout 100ms;
    server {{
        listen 127.0.0.1:{port};
        root {prefix}/root;
    }}
}}
'''


def exactly(n):
    """A trace of n bytes: white space ends it."""
    text = trace(3)
    assert len(text) <= n
    return text + b'\n' * (n - len(text))


def names_of(port, session, etag):
    return {'h': f'127.0.0.1:{port}', 'p': str(port), 's': session, 'E': etag, 'C': '/static/app.css',
            'F': f'/trace/{session}/raw/beta.trace.json', 'P': f'/%74race/{session}/raw/bet%61.trace%2Ejson'}


def etag_of(port, target):
    reply = raw.exchange(port, f'GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n'.encode())
    assert reply.statuses == [200]
    return reply.heads[0]['etag']


@pytest.fixture(scope='module')
def ours(tmp_path_factory):
    """A server of our own: its files have a size and a time that the table knows."""
    root = tmp_path_factory.mktemp('raw')
    run = root / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    (run / 'beta.trace.json').write_bytes(exactly(SIZE))
    (run / '.hidden.trace.json').write_bytes(exactly(SIZE))
    (root / 'plugins' / 'profile-secret').mkdir()
    (root / 'plugins' / 'profile-secret' / 'x.txt').write_text('secret')
    os.utime(run / 'beta.trace.json', (SECONDS, SECONDS))
    s = Server(root)
    listed = s.sessions()
    s.session = listed[0]['id']
    s.css = s.get('/static/app.css').body
    s.names = names_of(s.port, s.session, etag_of(s.port, f'/trace/{s.session}/raw/beta.trace.json'))
    yield s
    s.stop()


@pytest.fixture(scope='module')
def nginx(ours, tmp_path_factory):
    program = shutil.which('nginx') or '/usr/sbin/nginx'
    assert os.path.exists(program), 'nginx is missing: scripts/setup --test installs it'
    prefix = tmp_path_factory.mktemp('nginx')
    files = prefix / 'root'
    (files / 'static').mkdir(parents=True)
    (files / 'trace' / ours.session / 'raw').mkdir(parents=True)
    beta = files / 'trace' / ours.session / 'raw' / 'beta.trace.json'
    beta.write_bytes(exactly(SIZE))
    os.utime(beta, (SECONDS, SECONDS))
    (files / 'static' / 'app.css').write_bytes(ours.css)
    (files / 'static' / 'app.css.gz').write_bytes(gzip.compress(ours.css))
    (files / 'index.html').write_text('index')
    (files / 'healthz').write_text('ok')
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    (prefix / 'nginx.conf').write_text(NGINX.format(prefix=prefix, port=port))
    process = subprocess.Popen([program, '-p', str(prefix), '-c', str(prefix / 'nginx.conf')],
                               stderr=subprocess.PIPE)
    for _ in range(200):
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            break
        except OSError:
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.02)
    yield names_of(port, ours.session, etag_of(port, f'/trace/{ours.session}/raw/beta.trace.json'))
    process.terminate()
    process.wait()


@pytest.mark.parametrize('row', ROWS, ids=str)
def test_ours(ours, row):
    reply = raw.exchange(ours.port, raw.expand(row.bytes, ours.names))
    assert raw.differences(reply, row.expected) == []
    if 'library' in raw.facts(row.expected):
        return  # refused by libmicrohttpd itself, which raw.made_by_library checks
    if 'n' not in raw.facts(row.expected):
        assert len(reply.statuses) == row.bytes.count(' HTTP/1.') or len(reply.statuses) <= 1, 'more answers than requests'
    for head in reply.heads:
        assert head.get('x-content-type-options') == 'nosniff'
        if 'html' in head.get('content-type', ''):
            assert head.get('content-security-policy')


@pytest.mark.parametrize('row', [r for r in ROWS if r.nginx != '-'], ids=str)
def test_nginx(nginx, row):
    reply = raw.exchange(int(nginx['p']), raw.expand(row.bytes, nginx))
    against_ours = raw.differences(reply, row.expected, raw.EVERYWHERE)
    if row.nginx == '=':
        assert against_ours == [], 'nginx differs, and the table does not say why'
        return
    assert raw.differences(reply, row.nginx) == []
    assert against_ours, 'the table explains a difference that is none'
    assert len(row.why) >= 10, 'a difference without a reason'


def test_the_table_is_a_table():
    assert len(ROWS) >= 300
    assert len({r.bytes for r in ROWS}) == len(ROWS), 'a row twice'
    assert all(not r.why for r in ROWS if r.nginx == '=')
    assert all(r.why for r in ROWS if r.nginx != '=')
