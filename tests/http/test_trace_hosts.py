"""/trace/ID/all.pftrace and all.tar.gz: all hosts of a session in one file, as `export` writes them."""
import gzip
import io
import pathlib
import subprocess
import sys
import tarfile

import pytest

from conftest import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'golden'))
from common import PROGRAM  # noqa: E402
from common import trace as real  # noqa: E402
from pftrace_decode import Trace  # noqa: E402

XPLANE = 'jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb'
UI = 'Origin: https://ui.perfetto.dev'


def run_of(folder, names):
    run = folder / 'plugins' / 'profile' / 'run'
    run.mkdir(parents=True)
    for name in names:
        (run / f'{name}.xplane.pb').write_bytes(real(XPLANE).read_bytes())
    return folder


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    folder = run_of(tmp_path_factory.mktemp('hosts'), ['a', 'b'])
    server = Server(folder)
    yield server, server.sessions()[0]['id'], folder
    server.stop()


def exported(folder, *args):
    return subprocess.run([PROGRAM, 'export', *args, str(folder)], capture_output=True, check=True).stdout


def test_they_are_what_export_writes(served):
    server, session, folder = served
    a = server.get(f'/trace/{session}/all.pftrace', UI)
    assert (a.status, a.get('Content-Type')) == (200, 'application/octet-stream')
    assert a.get('Access-Control-Allow-Origin') == 'https://ui.perfetto.dev'
    assert a.content() == exported(folder)
    whole = Trace(a.content())
    names = {whole.process_of(s.track).name.split(' (')[1] for s in whole.of_file()}
    assert names == {'a)', 'b)'}
    b = server.get(f'/trace/{session}/all.tar.gz', UI)
    assert (b.status, b.get('Content-Type')) == (200, 'application/gzip') and not b.get('Content-Encoding')
    tar = gzip.decompress(b.content())
    assert tar == exported(folder, '--to', 'bundle')
    with tarfile.open(fileobj=io.BytesIO(tar)) as members:
        assert members.getnames() == ['a.json', 'b.json', 'perfetto_manifest.json']
        for name in ('a.json', 'b.json'):
            assert members.extractfile(name).read() == server.get(f'/trace/{session}/{name}').content()


def test_their_tags_change_with_any_file(tmp_path):
    server = Server(run_of(tmp_path, ['a', 'b']))
    try:
        session = server.sessions()[0]['id']
        tags = {}
        for name in ('all.pftrace', 'all.tar.gz'):
            tags[name] = server.get(f'/trace/{session}/{name}').get('ETag')
            assert server.get(f'/trace/{session}/{name}', f'If-None-Match: {tags[name]}').status == 304
        packed = server.get(f'/trace/{session}/all.pftrace', 'Accept-Encoding: gzip')
        assert packed.get('Content-Encoding') == 'gzip'
        assert len({packed.get('ETag'), *tags.values()}) == 3
        second = tmp_path / 'plugins' / 'profile' / 'run' / 'b.xplane.pb'
        second.write_bytes(real(XPLANE).read_bytes()[:-1000])
        rescan = ['Content-Type: application/json', f'Origin: http://{server.host}', 'Content-Length: 0']
        assert server.request('POST', '/api/v1/rescan', *rescan).status == 200
        again = server.get(f'/trace/{session}/all.pftrace', f'If-None-Match: {tags["all.pftrace"]}')
        assert again.status == 200 and again.get('ETag') != tags['all.pftrace']
    finally:
        server.stop()


def test_the_page_hands_all_hosts_over(served):
    server, session, _ = served
    page = server.get(f'/perfetto/{session}').content()
    assert f'data-trace="../trace/{session}/all.pftrace"'.encode() in page and b'data-file="all.pftrace"' in page
    assert b'/all.tar.gz"' in page and b'handoff.js' in page
    assert b'data-start' not in server.get(f'/perfetto/{session}?at=5..9').content()  # a time of one host's file
    one = server.get(f'/perfetto/{session}/a').content()
    assert b'/a.json.gz"' in one and b'all.pftrace' not in one


def test_a_host_of_that_name_comes_first(tmp_path):
    server = Server(run_of(tmp_path, ['all', 'b']))
    try:
        session = server.sessions()[0]['id']
        names = {t.name for t in Trace(server.get(f'/trace/{session}/all.pftrace').content()).tracks.values()}
        assert '/host:CPU' in names and not any(n.endswith('(b)') for n in names)
        assert b'data-trace' not in server.get(f'/perfetto/{session}').content()
    finally:
        server.stop()


def test_others_are_not_there(served):
    server, session, _ = served
    for name in ('all.json', 'all', 'all.zip'):
        a = server.get(f'/trace/{session}/{name}')
        assert a.status == 404 and b'all.pftrace' in a.body
