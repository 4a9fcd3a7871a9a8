"""A server over a small profile directory of known content, and raw sockets to talk to it: what
goes over the wire is what is tested, so no HTTP library stands in between."""
import gzip
import json
import os
import re
import resource
import socket
import subprocess
import sys
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests'))  # for traces.py
RUN = '2026_01_02_03_04_05'
BIG_EVENTS = 120_000  # 9.7 MB exported: more than the ring of a conversion and what the kernel keeps for a socket


def serve_program():
    build = os.environ.get('VP_BUILD') or os.path.join(ROOT, 'build/dev')
    path = os.environ.get('VP_HTTP_SERVE') or os.path.join(build, 'tests/http_serve')
    assert os.path.exists(path), f'{path} is missing: build it, or set VP_HTTP_SERVE'
    return path


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        self.raw_head = lines
        self.status = int(lines[0].split(' ')[1]) if raw.startswith(b'HTTP/1.') else 0
        self.fields = [tuple(line.split(': ', 1)) for line in lines[1:] if ': ' in line]

    def all(self, name):
        return [v for k, v in self.fields if k.lower() == name.lower()]

    def get(self, name):
        values = self.all(name)
        assert len(values) <= 1, f'{name} appears {len(values)} times'
        return values[0] if values else None

    def content(self):
        """The body without its chunks."""
        if self.get('Transfer-Encoding') != 'chunked':
            return self.body
        out, at = bytearray(), 0
        while True:
            end = self.body.index(b'\r\n', at)
            n, at = int(self.body[at:end], 16), end + 2
            if n == 0:
                assert self.body[at:] == b'\r\n', 'the last chunk does not end the body'
                return bytes(out)
            assert self.body[at + n:at + n + 2] == b'\r\n'
            out += self.body[at:at + n]
            at += n + 2


class Server:
    def __init__(self, directory, *args, limit=None, wrap=()):
        """limit: of descriptors; wrap: a command that runs the program."""
        def before():
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self.process = subprocess.Popen([*wrap, serve_program(), str(directory), *map(str, args)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=before)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(re.search(r':(\d+)/', self.url).group(1))
        self.host = f'127.0.0.1:{self.port}'

    def connect(self, timeout=60, family=socket.AF_INET, small=False):
        s = socket.socket(family, socket.SOCK_STREAM)
        if small:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(timeout)
        s.connect(('::1' if family == socket.AF_INET6 else '127.0.0.1', self.port))
        return s

    def raw(self, data, timeout=60):
        """Sends bytes, and reads until the server closes."""
        out = bytearray()
        with self.connect(timeout) as s:
            try:
                s.sendall(data)
                while chunk := s.recv(1 << 16):
                    out += chunk
            except (ConnectionResetError, BrokenPipeError):
                pass
        return bytes(out)

    def request(self, method, target, *fields, host=None, version='1.1', body=b''):
        lines = [f'{method} {target} HTTP/{version}', f'Host: {host or self.host}', *fields,
                 'Connection: close', '', '']
        data = '\r\n'.join(lines).encode('latin-1') + body
        return Answer(self.raw(data))

    def get(self, target, *fields, **more):
        return self.request('GET', target, *fields, **more)

    def sessions(self):
        """All of them: the index is made in the background, and the list says until when."""
        while True:
            listed = json.loads(self.get('/api/v1/sessions').content())
            if not listed.get('indexing'):
                return listed['sessions']
            time.sleep(0.02)

    def routes(self):
        """(may GET, may POST, other origins may read, needs no token, pattern) of every route there is."""
        self.process.stdin.write('routes\n')
        self.process.stdin.flush()
        out = []
        while line := self.process.stdout.readline().strip():
            methods, flags, pattern = line.split(' ', 2)
            out.append((bool(int(methods) & 1), bool(int(methods) & 2), bool(int(flags) & 2),
                        bool(int(flags) & 4), pattern))
        return out

    def descriptors(self):
        self.process.stdin.write('fds\n')
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[1])

    def stop(self, timeout=30):
        start = time.monotonic()
        out, err = self.process.communicate(timeout=timeout)
        assert self.process.returncode == 0, err
        assert out.endswith('stopped\n'), out
        return time.monotonic() - start


def events(n, note=''):
    """Ops of one device, 7 of 10 us each, with a note of any length. In a large trace only each hundredth leaves a
    gap: what the analysis adds to an export would else be most of it."""
    meta = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:TPU:0'}},
            {'ph': 'M', 'pid': 1, 'tid': 2, 'name': 'thread_name', 'args': {'name': 'XLA Ops'}}]
    return meta + [{'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 10 * i, 'dur': 10 if n > 1000 and i % 100 else 7,
                    'name': f'fusion.{i % 9}', **({'args': {'note': note}} if note else {})} for i in range(n)]


def trace(n, note=''):
    head = '{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
    return (head + ','.join(json.dumps(e) for e in events(n, note)) + ',{}]}').encode()


@pytest.fixture(scope='session')
def profile_dir(tmp_path_factory):
    root = tmp_path_factory.mktemp('logdir')
    run = root / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    (run / 'alpha.trace.json.gz').write_bytes(gzip.compress(trace(1000), mtime=0))
    (run / 'beta.trace.json').write_bytes(trace(10))
    (run / 'big.trace.json').write_bytes(trace(BIG_EVENTS))
    (run / '.hidden.trace.json').write_bytes(trace(1))
    (root / 'plugins' / 'profile-secret').mkdir()
    (root / 'plugins' / 'profile-secret' / 'x.txt').write_text('secret')
    return root


@pytest.fixture(scope='module')
def server(profile_dir):
    s = Server(profile_dir)
    yield s
    s.stop()


@pytest.fixture(scope='module')
def session(server):
    listed = server.sessions()
    named = [s for s in listed if s['name'].endswith(RUN)]
    assert len(named) == 1, listed
    return named[0]['id']
