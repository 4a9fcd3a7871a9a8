"""Two real TPU runs laid side by side as two hosts of one session: the reports of the hosts, merged, are
the report of the session."""
import json
import shutil

import pytest

import identities
from common import trace, view_profile

VLLM = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/'
RUNS = {'host-a': VLLM + '2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz',
        'host-b': VLLM + '2026_01_12_00_26_20/t1v-n-9eb622fc-w-0.trace.json.gz'}


@pytest.fixture(scope='module')
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp('side')
    run = folder / 'plugins' / 'profile' / '2026_01_12_00_26_20'
    run.mkdir(parents=True)
    for host, path in RUNS.items():
        shutil.copy(trace(path), run / f'{host}.trace.json.gz')
    return folder


def report_of(path, *options):
    return identities.strict(view_profile('report', '--format=json', *options, str(path)).stdout)


@pytest.mark.parametrize('order', [1, -1])
def test_two_runs_as_two_hosts(session, tmp_path, order):
    parts = []
    for host in RUNS:
        path = tmp_path / f'{host}.json'
        path.write_text(json.dumps(report_of(session, f'--host={host}')))
        parts.append(str(path))
    made, whole = identities.strict(view_profile('merge', *parts[::order]).stdout), report_of(session)
    identities.check(made)
    assert [(d['host'], d['name']) for d in whole['devices']] == \
        [(h, f'/device:TPU:{i}') for h in RUNS for i in (0, 1)]
    assert made.keys() == whole.keys()
    for key in made:
        assert made[key] == whole[key], key


@pytest.mark.parametrize('host', RUNS)
def test_a_host_is_its_own_run(session, host):
    """What stands beside it changes nothing of a host: its devices and ops are those of its file alone. (For whom it waits in a
    collective does depend on the others.)"""
    alone, whole = report_of(trace(RUNS[host])), report_of(session)

    def of_host(made, key):
        skip = {'host', 'device_index', 'timeline_ns', 'slowest', 'exposed_wait_ps'}
        return [{k: v for k, v in row.items() if k not in skip} for row in made[key]
                if made is alone or row['host'] == host]

    assert len(of_host(whole, 'devices')) == 2
    for key in ('devices', 'ops'):
        assert of_host(whole, key) == of_host(alone, key), key


PLANS = {'host-a': 'jax_cpu/mnist_train', 'host-b': 'jax_cpu/recompile'}


def test_memory_of_two_hosts(tmp_path):
    """Plans stay those of their hosts: merged, they are the session's and, but for the host, each file's own."""
    run, parts, alone = tmp_path / 'all' / 'plugins' / 'profile' / 'run', [], []
    run.mkdir(parents=True)
    for host, path in PLANS.items():
        file, = trace(path).rglob('*.xplane.pb')
        shutil.copy(file, run / f'{host}.xplane.pb')
        alone += [{**m, 'host': host} for m in report_of(file)['memory_static']]
    for host in PLANS:
        parts.append(tmp_path / f'{host}.json')
        parts[-1].write_text(json.dumps(report_of(tmp_path / 'all', f'--host={host}')))
    made, whole = identities.strict(view_profile('merge', *map(str, parts)).stdout), report_of(tmp_path / 'all')
    for key in ('memory', 'memory_static', 'memory_programs'):
        assert made[key] == whole[key], key

    def rows(plans):
        return sorted(json.dumps(m, sort_keys=True) for m in plans)

    assert alone and rows(made['memory_static']) == rows(alone)
    for p in made['memory_programs']:
        ran = [m for m in alone if m['host'] == p['host'] and m['space'] == p['space'] and m['ran']]
        assert p['programs'] == len(ran) and p['least_bytes'] == max(m['peak_bytes'] for m in ran)


ALLOCATORS = ['jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
              'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb']


def test_peaks_of_two_hosts_are_never_summed(tmp_path):
    """Each allocator of each device keeps its own peak, and a gate asks for the fullest program of one device, on whichever host."""
    alone, parts = [], []
    for path in ALLOCATORS:
        alone.append(report_of(trace(path)))
        parts.append(tmp_path / f'{len(parts)}.json')
        parts[-1].write_text(json.dumps(alone[-1]))
    both = tmp_path / 'both.json'
    both.write_text(view_profile('merge', '--force', *map(str, parts)).stdout)
    made = identities.strict(both.read_text())

    def peaks(report):
        return [(a['host'], a['allocator'], a['peak_bytes']) for a in report['memory']['allocators']]

    assert sorted(peaks(made)) == sorted(peaks(alone[0]) + peaks(alone[1])) and len({h for h, _, _ in peaks(made)}) == 2
    least, most = (max(m['peak_bytes'] for m in a['memory_static'] if m['ran'] and not m['space']) for a in alone)
    grown = 100 * (most - least) / least
    for percent, code in ((grown - 0.01, 1), (grown + 0.01, 0)):
        done = view_profile('compare', f'--fail-on-peak={percent:.4f}%', str(parts[0]), str(both), check=False)
        assert done.returncode == code, done.stderr
    assert view_profile('compare', '--fail-on-peak=0%', str(both), str(both), check=False).returncode == 0
