"""A large trace begins to arrive before all of its file was read, and is what `export` writes, to the byte; what breaks
behind that is cut, and what breaks before it is refused."""
import gzip
import json
import os
import subprocess

import pytest

from conftest import ROOT, Server

PROGRAM = os.environ.get('VIEW_PROFILE') or os.path.join(os.environ.get('VP_BUILD') or f'{ROOT}/build/dev', 'view_profile')
EARLY = 16 << 20  # EX_EARLY_BYTES
KEY = 40 << 20  # beyond VP_JSON_EVENT_MAX, whatever a window has of it at once


def text(behind=''):
    """A little more than begins early, the last event across the one before it."""
    says = 'abcdefghijklmnop' * 4096
    events = [{'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 10 * i, 'dur': 9, 'name': f'op {i % 7}', 'args': {'says': says, 'i': i}}
              for i in range(EARLY // len(says) + 40)]
    events[-1]['ts'] -= 5
    return ('{"traceEvents":' + json.dumps(events) + behind + '}').encode()


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp('early')
    (folder / 'a.trace.json.gz').write_bytes(gzip.compress(text(), 1, mtime=0))
    server = Server(folder)
    yield server, server.sessions()[0]['id'], folder
    server.stop()


@pytest.mark.parametrize('suffix,form', [('.json', 'perfetto-json'), ('.pftrace', 'pftrace')])
def test_it_is_what_is_exported(served, tmp_path, suffix, form):
    server, session, folder = served
    out = tmp_path / 'out'
    subprocess.run([PROGRAM, 'export', '--quiet', '--to', form, '-o', out, folder], check=True)
    plain = server.get(f'/trace/{session}/a{suffix}')
    assert plain.status == 200 and plain.content() == out.read_bytes()
    packed = server.get(f'/trace/{session}/a{suffix}', 'Accept-Encoding: gzip')
    assert gzip.decompress(packed.content()) == out.read_bytes()
    again = server.get(f'/trace/{session}/a{suffix}', 'Accept-Encoding: gzip')
    assert again.content() == packed.content()


@pytest.mark.parametrize('suffix', ['.json', '.json.gz', '.pftrace'])
def test_what_breaks_late_is_cut(tmp_path, suffix):
    """A key that nobody can hold fails the whole: a refusal, or where it has begun, a stream without its end."""
    key = f',"{"k" * (KEY + 1)}":1'
    (tmp_path / 'a.trace.json').write_bytes(text(key))
    server = Server(tmp_path)
    session = server.sessions()[0]['id']
    answer = server.get(f'/trace/{session}/a{suffix}')
    assert answer.status == 200 and answer.get('Transfer-Encoding') == 'chunked'
    assert answer.body and not answer.body.endswith(b'0\r\n\r\n')
    server.stop()


def test_what_breaks_at_once_is_refused(tmp_path):
    (tmp_path / 'a.trace.json').write_bytes(f'{{"{"k" * (KEY + 1)}":1,'.encode() + text()[1:])
    server = Server(tmp_path)
    session = server.sessions()[0]['id']
    assert server.get(f'/trace/{session}/a.json').status >= 400
    server.stop()
