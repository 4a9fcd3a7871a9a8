"""`--where host`: what the threads of the host do where a device exists, too. The tables are counted here
from the file itself, and agree with what the whole report says of the host beside the device."""
import gzip
import json

import pytest

from common import report, trace, view_profile
from test_one_step import RESNET, chosen

JAX_CPU = 'jax_cpu/three_runs'
TF_GPU = 'tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb'
FILES = [RESNET, JAX_CPU, TF_GPU, 'xla_gpu_cuda', 'jax_tpu']
OF_DEVICE = ('Kernel', 'Memcpy', 'Memset')
US = 10**6


def top(path, *options, where='host'):
    return json.loads(view_profile('top', f'--where={where}', '--format=json', '--top=100000', *options,
                                   str(trace(path))).stdout)


def host_events():
    with gzip.open(trace(RESNET)) as f:
        return [e for e in json.load(f)['traceEvents'] if e.get('ph') == 'X' and
                e.get('cat') not in OF_DEVICE and not e['name'].startswith('PyTorch Profiler')]  # a mark of the window


def union(spans):
    busy, until = 0, 0
    for start, end in sorted(spans):
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy


def test_it_is_what_the_file_says_of_its_threads():
    """Calls, times and the longest of each name; and all self times are what the threads are busy."""
    calls, busy = {}, {}
    for e in host_events():
        calls.setdefault(e['name'], []).append(e['dur'])
        busy.setdefault((e['pid'], e['tid']), []).append((e['ts'], e['ts'] + e['dur']))
    made = top(RESNET, '--group=raw')
    counted = {}
    for o in made['ops']:
        n, longest = counted.get(o['name'], (0, 0))
        counted[o['name']] = (n + o['calls'], max(longest, o['max_ps']))
    del counted['[memory]']  # an instant of the allocator, no zone
    assert counted == {name: (len(v), max(v) * US) for name, v in calls.items()}
    assert len(counted) > 50
    assert sum(o['self_ps'] for o in made['ops']) == sum(union(v) for v in busy.values()) * US
    assert made['analysis']['where'] == 'host' and top(RESNET, where='device')['analysis']['where'] == 'device'


@pytest.mark.parametrize('path', FILES)
def test_identities(path):
    made, whole = top(path), report(path)
    assert whole['analysis']['has_devices'] and whole['host_ops']
    devices = {(d['name'], d['host']) for d in whole['devices']}
    assert made['devices'] and not devices & {(d['name'], d['host']) for d in made['devices']}
    for n, d in enumerate(made['devices']):
        b, ops = d['breakdown'], [o for o in made['ops'] if o['device_index'] == n]
        assert b['compute_ps'] + b['exposed_comm_ps'] + b['exposed_copy_ps'] + b['idle_ps'] == b['window_ps']
        assert b['window_ps'] == d['window']['end_ps'] - d['window']['start_ps']
        assert sum(o['self_ps'] for o in ops) == d['self_ps'] and sum(o['calls'] for o in ops) == d['events']
        for o in ops:
            assert o['self_ps'] <= b['window_ps'] * max(o['threads'], 1) and o['self_ps'] <= o['total_ps'] + o['inner_ps']
            assert o['self_share_of_ops'] == pytest.approx(o['self_ps'] / d['self_ps'], abs=1e-9)
            assert o['self_share_of_window'] is None or o['self_share_of_window'] <= 1


@pytest.mark.parametrize('path', FILES)
def test_it_agrees_with_the_report(path):
    """What the report lists of the host beside the device, without the profiler's own, is in the tables."""
    rows, listed = {}, {}
    for o in top(path, '--group=raw')['ops']:
        n, self_ps = rows.get(o['name'], (0, 0))
        rows[o['name']] = (n + o['calls'], self_ps + o['self_ps'])
    for o in report(path)['host_ops']:
        n, self_ps = listed.get(o['name'], (0, 0))
        listed[o['name']] = (n + o['calls'], self_ps + o['self_ps'])
    assert len(listed) >= 5
    for name, (calls, self_ps) in listed.items():
        assert rows[name][0] >= calls and rows[name][1] >= self_ps, name


def test_the_default_is_the_device():
    assert top(RESNET, where='device') == json.loads(
        view_profile('top', '--format=json', '--top=100000', str(trace(RESNET))).stdout)
    assert {'GPU 0'} == {o['device'] for o in top(RESNET, where='device')['ops']}


def test_call_paths():
    made = top(RESNET, '--group=scope')
    assert sum(o['self_ps'] for o in made['ops']) == sum(o['self_ps'] for o in top(RESNET)['ops'])
    assert any(o['name'].count('/') >= 2 for o in made['ops'])


def test_of_one_step():
    """Steps do not overlap, and each has its part of every zone."""
    step = chosen(report(RESNET))[1]
    part, whole = top(RESNET, '--step', str(step['number'])), top(RESNET)
    assert part['window']['step'] == step['number']
    all_of = {o['name']: o['self_ps'] for o in whole['ops']}
    assert part['ops'] and all(0 <= o['self_ps'] <= all_of[o['name']] for o in part['ops'])
    assert all(d['breakdown']['window_ps'] <= step['dur_ps'] * 2 for d in part['devices'])


def test_without_a_device_it_is_the_same(tmp_path):
    zone = {'ph': 'X', 'pid': 1, 'tid': 1, 'name': 'f', 'ts': 0, 'dur': 5}
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': [zone]}))
    assert top(str(tmp_path)) == top(str(tmp_path), where='device')
    assert top(str(tmp_path))['analysis']['where'] == 'host'


def test_in_words():
    shown = view_profile('top', '--where', 'host', str(trace(RESNET)), env={'COLUMNS': '80'}).stdout
    assert 'device work is not included' in ' '.join(shown.split())
    assert "self time of the process's threads" in ' '.join(shown.split())
    assert 'No device in this profile' not in shown and max(map(len, shown.splitlines())) <= 80
    assert view_profile('top', '--where', 'gpu', str(trace(RESNET)), check=False).returncode == 2
