"""A large trace begins to arrive before all of its file was read, and is what `export` writes, to the byte. What
breaks behind that: tests/unit/test_export_early.c."""
import gzip
import json
import os
import subprocess

import pytest

from conftest import ROOT, Server

PROGRAM = os.environ.get('VIEW_PROFILE') or os.path.join(os.environ.get('VP_BUILD') or f'{ROOT}/build/dev', 'view_profile')
EARLY = 8 << 20  # EX_EARLY_BYTES


def text():
    """A little more than begins early, the last event across the one before it."""
    says = 'abcdefghijklmnop' * 4096
    events = [{'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 10 * i, 'dur': 9, 'name': f'op {i % 7}', 'args': {'says': says, 'i': i}}
              for i in range(EARLY // len(says) + 40)]
    events[-1]['ts'] -= 5
    return ('{"traceEvents":' + json.dumps(events) + '}').encode()


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
