"""Every user of a machine reaches its loopback addresses: a server without a token answers its own user
and root alone. With clients of other users, for real, which takes root."""
import os
import re
import shutil
import socket
import tempfile
import time

import pytest

from conftest import RUN, Answer, Server, trace
from users import why_not

OWN, OTHER = 23456, 34567
TOKEN = '0123456789abcdef0123456789abcdef'
SECRET = b'fusion'

as_root = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture(scope='module')
def directory():
    """Of one user, closed to all others."""
    root = tempfile.mkdtemp()
    run = os.path.join(root, 'plugins', 'profile', RUN)
    os.makedirs(run)
    with open(os.path.join(run, 'beta.trace.json'), 'wb') as f:
        f.write(trace(10))
    if os.geteuid() == 0:
        for path, _, files in os.walk(root):
            for name in ['.', *files]:
                os.chown(os.path.join(path, name), OWN, OWN)
    os.chmod(root, 0o700)
    yield root
    shutil.rmtree(root)


@pytest.fixture(scope='module', params=['user', 'root'])
def server(request, directory):
    if why_not():
        pytest.skip(why_not())
    wrap = ['setpriv', f'--reuid={OWN}', f'--regid={OWN}', '--clear-groups'] if request.param == 'user' else []
    one = Server(directory, wrap=wrap)
    one.own = OWN if wrap else 0
    one.session = one.sessions()[0]['id']
    yield one
    one.stop()


def as_user(uid, work):
    """What work() returns, as bytes, in a process of that user's."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.write(write, work())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, 'rb') as f:
        out = f.read()
    assert os.waitpid(pid, 0)[1] == 0
    return out


def exchange(address, data, family=socket.AF_INET, half=False):
    out = bytearray()
    with socket.socket(family) as s:
        s.settimeout(20)
        s.connect(address)
        s.sendall(data)
        if half:
            s.shutdown(socket.SHUT_WR)
        while chunk := s.recv(1 << 16):
            out += chunk
    return bytes(out[:60000])


def request(server, target, method='GET', *fields, body=b''):
    lines = [f'{method} {target} HTTP/1.1', f'Host: {server.host}', 'Connection: close', *fields, '', '']
    return '\r\n'.join(lines).encode() + body


WAYS = {'v4': (socket.AF_INET, '127.0.0.1'), 'v6': (socket.AF_INET6, '::1'), 'mapped': (socket.AF_INET6, '::ffff:127.0.0.1')}


def ask(server, uid, target, way='v4', **more):
    family, host = WAYS[way]
    data = request(server, target)
    return Answer(as_user(uid, lambda: exchange((host, server.port), data, family, **more)))


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('half', [False, True])
def test_the_own_user_and_root_pass(server, way, half):
    for uid in {server.own, 0}:
        a = ask(server, uid, f'/api/v1/session/{server.session}/ops', way, half=half)
        assert a.status == 200 and SECRET in a.content()


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('uid', [OTHER, 65534])
def test_no_other_user_reads(server, uid, way):
    for _, _, _, is_open, pattern in server.routes():
        target = pattern.replace('{}', server.session, 1).replace('{}', 'beta.json')
        a = ask(server, uid, target, way)
        if is_open:
            assert a.status == 200, target
        else:
            assert a.status == 403, target
            assert server.session.encode() not in a.body and SECRET not in a.body
    assert b'--token-file' in ask(server, uid, '/', way).body
    assert ask(server, uid, '/nothing', way).status == 403


def answered(server, route):
    text = server.get('/metrics').content().decode()
    return {m[1]: int(m[2]) for m in re.finditer(rf'requests_total{{route="{route}",code="(\d+)"}} (\d+)', text)}


def test_no_other_user_changes_anything(server):
    fields = ['Content-Type: application/json', f'Origin: http://{server.host}', 'Content-Length: 2']
    data = request(server, '/api/v1/rescan', 'POST', *fields, body=b'{}')
    assert Answer(as_user(OTHER, lambda: exchange(('127.0.0.1', server.port), data))).status == 403

    def ask_and_leave():
        """The socket has no owner any more when the server looks, which kernels call 0."""
        for i in range(300):
            s = socket.socket()
            s.connect(('127.0.0.1', server.port))
            try:
                s.sendall(data)
                if i % 2:
                    s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # answered and closed already
            s.close()
        return b'done'
    before = answered(server, '/api/v1/rescan')
    assert as_user(OTHER, ask_and_leave) == b'done'
    end = time.monotonic() + 10
    while sum(answered(server, '/api/v1/rescan').values()) < sum(before.values()) + 250 and time.monotonic() < end:
        time.sleep(0.1)
    after = answered(server, '/api/v1/rescan')
    assert sum(after.values()) > sum(before.values()), 'nothing came'
    assert {k: v for k, v in after.items() if k != '403'} == {k: v for k, v in before.items() if k != '403'}


def test_many_connections_of_both_users(server):
    """Each is judged by itself, also where ports are used again."""
    for i in range(60):
        uid = OTHER if i % 2 else server.own
        assert ask(server, uid, '/api/v1/sessions').status == (403 if i % 2 else 200)


@as_root
def test_a_token_lets_anybody_in_who_has_it(directory):
    server = Server(directory, 'token', TOKEN)
    data = request(server, '/api/v1/sessions', 'GET', f'Authorization: Bearer {TOKEN}')
    assert Answer(as_user(OTHER, lambda: exchange(('127.0.0.1', server.port), data))).status == 200
    assert ask(server, OTHER, '/api/v1/sessions').status == 401
    assert ask(server, 0, '/api/v1/sessions').status == 401
    server.stop()


def test_the_users_own_programs_need_nothing(directory):
    """What holds for whoever runs the tests."""
    server = Server(directory)
    assert 'token' not in server.url
    assert server.get('/api/v1/sessions').status == 200
    with server.connect(family=socket.AF_INET6) as s:
        s.sendall(f'GET /api/v1/sessions HTTP/1.1\r\nHost: [::1]:{server.port}\r\n\r\n'.encode())
        assert s.recv(100).startswith(b'HTTP/1.1 200')
    server.stop()


def test_where_users_cannot_be_told_apart_a_token_is_made(directory):
    """Run by the user whose number stands for all who have none."""
    os.chmod(directory, 0o755)
    if os.geteuid() and os.system('unshare -Ur true 2>/dev/null'):
        pytest.skip('SKIPPED: this kernel permits no namespaces of users')
    if os.geteuid() == 0 and why_not():
        pytest.skip(why_not())
    server = Server(directory, wrap=['setpriv', '--reuid=65534', '--clear-groups'] if os.geteuid() == 0 else
                    ['unshare', '-U'])
    assert re.search(r'\?token=[0-9a-f]{32}$', server.url)
    assert server.get('/api/v1/sessions').status == 401
    server.stop()
