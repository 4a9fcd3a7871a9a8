"""What the recorder writes, through the installed XProf: its timeline has our events with our times and
names, its overview has our steps with what the device did in them, and nothing is refused."""
import collections
import json
import pathlib
import shutil
import statistics
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import ps, run, tool  # noqa: E402


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """(truth, the XSpace); XProf writes its caches beside it."""
    folder = tmp_path_factory.mktemp('capture')
    truth = json.loads(run(tool('capture_tool'), folder / 'prof')[0])
    plane = folder / 'plugins' / 'profile' / 'run' / 'box.xplane.pb'
    plane.parent.mkdir(parents=True)
    shutil.copy(folder / 'prof' / 'again' / 'box.xplane.pb', plane)
    return truth, plane


def made_by_xprof(plane, name):
    from xprof.convert import raw_to_tool_data
    data = raw_to_tool_data.xspace_to_tool_data([str(plane)], name, {})[0]
    return json.loads(data)


@pytest.fixture(scope='module')
def timeline(recorded):
    return [e for e in made_by_xprof(recorded[1], 'trace_viewer')['traceEvents'] if e]


def events_of(truth, *kinds):
    return [(t, e) for t in truth['threads'] for e in t['events'] if e['kind'] in kinds]


def test_the_timeline_has_every_zone_with_its_time(recorded, timeline):
    """XProf calls steps by their names and numbers, and shows what has no length as an instant. Its times
    are doubles of microseconds."""
    def shown(e):
        return f"{e['name']} {e['number']}" if e['kind'] == 'step' else e['name']
    want = collections.Counter((t['tid'], shown(e), e['start'] // 1000, e['dur'] // 1000)
                               for t, e in events_of(recorded[0], 'zone', 'step', 'compile') if e['dur'])
    tids = {t['tid'] for t in recorded[0]['threads']}
    got = collections.Counter(
        (e['tid'], e['name'], ps(e['ts']) // 1000, ps(e['dur']) // 1000)
        for e in timeline if e['ph'] == 'X' and e['pid'] == 701 and e['tid'] in tids)
    assert sum(want.values()) == sum(got.values())
    assert collections.Counter(k[:2] for k in want.elements()) == collections.Counter(k[:2] for k in got.elements())
    for a, b in zip(sorted(want.elements()), sorted(got.elements())):
        assert a[:2] == b[:2] and abs(a[2] - b[2]) <= 1 and abs(a[3] - b[3]) <= 1


def test_the_timeline_has_the_devices_work_in_its_steps(recorded, timeline):
    matmuls = [e for e in timeline if e['name'] == 'matmul # 1 ✓']
    assert sorted(int(e['args']['group_id']) for e in matmuls) == list(range(10))
    assert {e['args']['bytes_accessed'] for e in matmuls} == {'64'}
    copies = [e for e in timeline if e['name'] == 'MemcpyH2D']
    assert len(copies) == 10
    assert 'size:4096' in copies[0]['args']['memcpy_details']


def test_zones_of_other_threads_follow_the_flow_into_the_step(recorded, timeline):
    consumed = [e for e in timeline if e['name'] == 'consume']
    assert sorted(int(e['args']['group_id']) for e in consumed) == list(range(10))
    assert not any('group_id' in e.get('args', {}) for e in timeline if e['name'] == 'tick')


def test_the_overview_has_the_steps(recorded):
    """XProf leaves the first and the last of more than five out
    (docs/reference/jax-cpu.md#steps-on-the-cpu)."""
    tables = made_by_xprof(recorded[1], 'overview_page')
    steps = next(t for t in tables if 'steptime_ms_average' in t.get('p', {}))
    ids = [c['id'] for c in steps['cols']]
    rows = [dict(zip(ids, (c.get('v') for c in r['c']))) for r in steps['rows']]
    assert len(rows) == 8
    matmul = [e for _, e in events_of(recorded[0], 'span') if e['name'].startswith('matmul')]
    durations = [e['dur'] for e in sorted(matmul, key=lambda e: e['start'])]
    for row, dur in zip(rows, durations[1:-1]):
        assert ps(float(row['deviceComputeTimeMs']) * 1000) == pytest.approx(dur, abs=2)


def test_host_only_recordings_have_steps_too(recorded, tmp_path):
    """The same program without its devices: renaming their planes takes them out of XProf's sight."""
    data = recorded[1].read_bytes()
    plane = tmp_path / 'plugins' / 'profile' / 'run' / 'box.xplane.pb'
    plane.parent.mkdir(parents=True)
    plane.write_bytes(data.replace(b'/device:GPU:0', b'/nothing:GPU:').replace(b'/device:CUSTOM', b'/nothing:CUSTO'))
    tables = made_by_xprof(plane, 'overview_page')
    steps = next(t for t in tables if 'steptime_ms_average' in t.get('p', {}))
    ids = [c['id'] for c in steps['cols']]
    rows = [dict(zip(ids, (c.get('v') for c in r['c']))) for r in steps['rows']]
    # by their names and to the picosecond; without the first and the last, as above
    marked = sorted((e for _, e in events_of(recorded[0], 'step')), key=lambda e: e['start'])[1:-1]
    want = [(f"{e['name']} {e['number']}", e['dur']) for e in marked]
    assert len(want) == 8
    assert [(r['stepnum'], ps(str(r['stepTimeMs']), 'ms')) for r in rows] == want
    durations = [dur for _, dur in want]
    for key, value in (('average', statistics.mean(durations)), ('minimum', min(durations)),
                       ('maximum', max(durations)), ('standard_deviation', statistics.stdev(durations))):
        assert float(steps['p'][f'steptime_ms_{key}']) == pytest.approx(value / 1e9, abs=0.0501), key


@pytest.mark.parametrize('name', ['framework_op_stats', 'kernel_stats', 'input_pipeline_analyzer',
                                  'memory_profile', 'op_profile', 'hlo_stats'])
def test_no_tool_refuses_it(recorded, name):
    assert made_by_xprof(recorded[1], name) is not None
