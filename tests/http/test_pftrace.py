"""/trace/ID/HOST.pftrace: Perfetto's own format, served as the JSON is."""
import gzip
import json
import pathlib
import sys

import pytest

from conftest import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'golden'))
from common import trace as real  # noqa: E402
from pftrace_decode import Trace  # noqa: E402
from xplane_events import Space  # noqa: E402

XPLANE = 'jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb'


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp('pftrace')
    run = folder / 'plugins' / 'profile' / 'run'
    run.mkdir(parents=True)
    (run / 'vm.xplane.pb').write_bytes(real(XPLANE).read_bytes())
    server = Server(folder)
    yield server, server.sessions()[0]['id']
    server.stop()


def test_it_holds_every_event(served):
    server, session = served
    a = server.get(f'/trace/{session}/vm.pftrace', 'Origin: https://ui.perfetto.dev')
    assert (a.status, a.get('Content-Type')) == (200, 'application/octet-stream')
    assert a.get('Access-Control-Allow-Origin') == 'https://ui.perfetto.dev'
    space = Space(real(XPLANE).read_bytes())
    made = Trace(a.content())
    assert sorted((s.name, s.start, s.end) for s in made.slices if not made.added(s.track)) == sorted(
        (n, s, e) for _, line in space.lines() for n, s, e, _ in line.shown(space.base))


def test_it_is_packed_on_the_way_and_has_a_tag(served):
    server, session = served
    plain = server.get(f'/trace/{session}/vm.pftrace')
    packed = server.get(f'/trace/{session}/vm.pftrace', 'Accept-Encoding: gzip')
    assert packed.get('Content-Encoding') == 'gzip' and gzip.decompress(packed.content()) == plain.content()
    assert plain.get('ETag') != packed.get('ETag')
    again = server.get(f'/trace/{session}/vm.pftrace', f'If-None-Match: {plain.get("ETag")}')
    assert again.status == 304


def test_the_page_offers_it(served):
    server, session = served
    assert b'/vm.pftrace"' in server.get(f'/perfetto/{session}').content()


def test_json_has_one_too(tmp_path):
    events = [{'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 1.5, 'dur': 3, 'name': 'op', 'args': {'n': 7}}]
    (tmp_path / 'vm.trace.json').write_text(json.dumps({'traceEvents': events}))
    server = Server(tmp_path)
    session = server.sessions()[0]['id']
    made = server.get(f'/trace/{session}/vm.pftrace', 'Accept-Encoding: gzip').content()
    server.stop()
    assert [(s.name, s.start, s.end, s.args) for s in Trace(gzip.decompress(made)).of_file()] == [('op', 1500, 4500, {'n': 7})]


def test_what_nobody_makes_is_said(served):
    server, session = served
    assert server.get(f'/trace/{session}/vm.pbtrace').status == 404
    assert b'HOST.pftrace' in server.get(f'/trace/{session}/vm.txt').body
