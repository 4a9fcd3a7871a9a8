"""The built scenes of tests/gen through the installed XProf: it takes them for what its own profilers
write, and its tables of ops, kernels and steps are ours, to the picosecond.

Not compared: ops of one name in two programs, which XProf adds up where no HLO proto names the program;
XProf's IDLE of chips whose host clock wanders (its windows there are on the host's clock,
ours on the device's), and its step 0 and last step on GPU, which it drops."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import ps, view_profile  # noqa: E402
from gen import clean, files, planted  # noqa: E402

TPU = ['F1', 'F6-tpu', 'F10', 'F12', 'F16', 'F19', 'F20', 'tpu_one', 'tpu_four', 'jax_host']
GPU = ['F3-jax', 'F4-jax', 'F6-jax', 'F21-host', 'jax_gpu', 'rocm']
SCENES = planted.CASES | clean.CASES


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """name → where the scene lies; XProf writes its caches into the run, so ours is another."""
    root = tmp_path_factory.mktemp('built')

    def of(name, who):
        path = root / who / name
        if not path.exists():
            made = SCENES[name]()
            files.write(made.scene if name in planted.CASES else made[0], 'xspace', path)
        return path

    return of


def table_of(folder, name, tool):
    """XProf's rows as dicts by column id."""
    from xprof.convert import raw_to_tool_data
    planes = sorted(str(p) for p in folder(name, 'xprof').rglob('*.xplane.pb'))
    made = json.loads(raw_to_tool_data.xspace_to_tool_data(planes, tool, {})[0])
    if 'cols' not in made:
        return made
    ids = [c['id'] for c in made['cols']]
    return [dict(zip(ids, (c.get('v') for c in row['c']))) for row in made['rows']]


def ours(folder, name, *options):
    return json.loads(view_profile('report', '--format=json', *options, str(folder(name, 'ours'))).stdout)


def added(rows):
    """key → (Σ calls, Σ ps) of (key, calls, ps)"""
    out = {}
    for key, calls, total in rows:
        had = out.get(key, (0, 0))
        out[key] = had[0] + int(calls), had[1] + total
    return out


@pytest.mark.parametrize('name', TPU)
def test_ops(folder, name):
    """hlo_stats: category, op, framework op, over all chips."""
    want = added(((r['category'], r['hlo_op_name'], r['tf_op_name'] or None), r['occurrences'],
                  ps(str(r['total_self_time']))) for r in table_of(folder, name, 'hlo_stats'))
    got = added(((o['category'], o['name'], o['scope']), o['calls'], o['self_ps'])
                for o in ours(folder, name, '--group=raw')['ops'])
    assert want and got == want


@pytest.mark.parametrize('name', GPU)
def test_kernels(folder, name):
    """kernel_stats: calls, sum, least and most of every kernel."""
    rows = table_of(folder, name, 'kernel_stats')
    want = added((r['kernel_name'], r['occurrences'], ps(str(r['total_duration_us']))) for r in rows)
    ops = [o for o in ours(folder, name, '--group=raw')['ops'] if o['class'] != 'copy']
    assert want and added((o['name'], o['calls'], o['total_ps']) for o in ops) == want
    for r in rows:
        mine = [o for o in ops if o['name'] == r['kernel_name']]
        assert min(o['min_ps'] for o in mine) == ps(str(r['min_duration_us']))
        assert max(o['max_ps'] for o in mine) == ps(str(r['max_duration_us']))


@pytest.mark.parametrize('name', ['F4-jax', 'F6-jax', 'jax_gpu'])
def test_gpu_steps(folder, name):
    """XProf's step lasts from its first op to its last; ours begins with the step's call on the host or
    where the step before ended, so that it is longer by the idle time before its first op."""
    steps = {s['number']: s for s in ours(folder, name)['steps']['list']}
    theirs = {s['stepNum']: ps(str(core['totalDurationUs'])) for s in
              table_of(folder, name, 'pod_viewer')['podStatsSequence']['podStatsMap']
              for core in s['podStatsPerCore'].values()}
    assert len(theirs) >= 10 and theirs.keys() <= steps.keys()
    for number, lasts in theirs.items():
        idle = steps[number]['breakdown']['idle_ps']
        assert lasts <= steps[number]['dur_ps'] <= lasts + idle
        assert steps[number]['breakdown']['busy_ps'] == lasts
