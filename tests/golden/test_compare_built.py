"""compare and merge on built runs whose difference is known: classes to the picosecond, swapped signs,
noise that is no regression, and the order of what is merged."""
import csv
import io
import json
import sys

import pytest

import identities
from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import clean, files, measure  # noqa: E402
from gen.planted import FUSIONS, KERNELS, NCCL  # noqa: E402
from gen.scene import MS, US, GpuLoop, Scene, TpuChip  # noqa: E402

CLASSES = ('compute', 'exposed_comm', 'exposed_copy', 'idle')


def training(seed=1, kernel=1200 * US, noise=0, comm=300 * US, pause=0, steps=14):
    """A GPU run: eight kernels, an all-reduce behind them, a pause of the host."""
    loop = GpuLoop(Scene(seed))
    for n in range(steps):
        with loop.step(n):
            loop.work('prepare', 10 * US + pause)
            for name in KERNELS:
                loop.launch(name, loop.scene.noise(kernel, noise))
            loop.after(7, of=20)
            loop.launch(NCCL, comm, stream=20, kind='communication')
            loop.after(20, of=7)
            loop.drain()
    return loop.scene


@pytest.fixture(name='run')
def runs(tmp_path):
    def write(scene, form='kineto'):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return str(files.write(scene, form, folder))

    return write


def compare(a, b, *options, code=0):
    done = view_profile('compare', '--format=json', *options, a, b, check=False)
    assert done.returncode == code, (done.returncode, done.stdout[-300:], done.stderr)
    return identities.strict(done.stdout)


def check_sums(made):
    for d in made['devices']:
        for side in ('a_ps', 'b_ps', 'delta_ps'):
            assert sum(d[c][side] for c in CLASSES) == d['window'][side], (d['name'], side)
        for c in (*CLASSES, 'window'):
            assert d[c]['delta_ps'] == d[c]['b_ps'] - d[c]['a_ps']
    for o in made['ops']:
        assert o['a_ps'] is None or o['b_ps'] is None or o['delta_ps'] == o['b_ps'] - o['a_ps'], o
        assert not (o['new'] and o['gone']), o


def signs(made):
    """What must turn its sign when A and B change places."""
    out = {('step', k): made['step'][f'{k}_ps'] for k in ('delta',)}
    for d in made['devices']:
        out |= {(d['name'], c): d[c]['delta_ps'] for c in (*CLASSES, 'window')}
    return out | {(o['device'], o['name'], o['category']): o['delta_ps'] for o in made['ops']}


def test_what_is_planted_is_what_differs(run):
    """0.3 ms more communication a step, 1 ms of pause, and nothing else."""
    a, b = training(), training(comm=600 * US, pause=MS)
    made = compare(run(a), run(b))
    check_sums(made)
    device, = made['devices']
    assert device['compute']['delta_ps'] == device['exposed_copy']['delta_ps'] == 0
    assert device['exposed_comm']['delta_ps'] == 300 * US
    assert abs(device['idle']['delta_ps'] - MS) <= 1
    op = made['ops'][0]
    assert op['name'].startswith('ncclDevKernel') and op['significant'] and op['delta_ps'] == 300 * US
    whole = measure.breakdown(a.host.devices[0])
    assert made['step']['a_ps'] * 14 <= whole['window_ps'] + 14 * 20 * US


@pytest.mark.parametrize('options', [{'comm': 700 * US}, {'kernel': 1300 * US, 'noise': 2, 'seed': 9},
                                     {'pause': 2 * MS}])
def test_swapped_sides_negate(run, options):
    a, b = run(training(noise=1)), run(training(**options))
    there, back = compare(a, b), compare(b, a)
    check_sums(there)
    check_sums(back)
    assert signs(there) == {k: v if v is None else -v for k, v in signs(back).items()}
    assert sorted(there['findings_new']) == sorted(back['findings_gone'])


def test_gate(run):
    """Ten per cent slower than 1 % of noise: 1; the other way round, and noise alone: 0."""
    base, again, slower = (run(training(seed=s, kernel=k, noise=1)) for s, k in
                           ((1, 1200 * US), (2, 1200 * US), (3, 1320 * US)))
    assert compare(base, slower, '--max-regression=5%', code=1)['noise']['verdict'] == 'regression'
    assert compare(slower, base, '--max-regression=5%')['noise']['verdict'] == 'improvement'
    assert compare(base, again, '--max-regression=5%')['noise']['verdict'] == 'noise'
    assert compare(base, slower, '--max-regression=50%')['noise']['verdict'] == 'regression'


def test_the_gate_of_memory_without_memory(run):
    """A file without memory proves nothing: 3, or a warning if that is allowed, or 1 if proof is required."""
    base, slower = run(training(noise=1)), run(training(seed=3, kernel=1320 * US, noise=1))
    assert not compare(base, slower, '--fail-on-peak=5%', code=3)['memory']
    compare(base, slower, '--fail-on-peak=5%', '--allow-unverified')
    compare(base, slower, '--fail-on=unverified')
    compare(base, slower, '--fail-on-peak=5%', '--fail-on=unverified', code=1)


def test_too_few_steps_are_unverified(run):
    a, b = run(training(steps=2)), run(training(steps=2, kernel=1500 * US))
    assert compare(a, b, '--max-regression=5%', code=3)['noise']['verdict'] == 'unverified'
    compare(a, b, '--max-regression=5%', '--allow-unverified')
    compare(a, b, '--max-regression=5%', '--fail-on=unverified', code=1)
    compare(a, b, '--fail-on=regression', code=3)
    compare(a, b)


def test_the_same_run_twice(run):
    a = run(training(noise=1))
    made = compare(a, a, '--max-regression=0%')
    assert not any(signs(made).values())
    assert not any(o['significant'] or o['new'] or o['gone'] for o in made['ops'])
    assert made['caveats']


def tpu(dur, flops, names=tuple(FUSIONS), number=1, steps=8):
    scene = Scene()
    chip = TpuChip(scene)
    for n in range(steps):
        with chip.step(n), chip.module(run=n):
            for name in names:
                chip.op(f'{name}.{number}', dur, 'convolution fusion', stats={'model_flops': flops})
        chip.idle(10 * US)
    return scene


def test_more_work_is_not_slower(run):
    """Twice the FLOPs in twice the time: the same rate."""
    made = compare(run(tpu(MS, 10**9), 'xspace'), run(tpu(2 * MS, 2 * 10**9), 'xspace'))
    check_sums(made)
    for o in made['ops']:
        assert 'same rate' in (o['reason'] or ''), o


def test_more_work_at_a_better_rate_is_not_slower(run):
    """Four times the FLOPs in twice the time, one run of twice the steps: in every format."""
    a, b = run(tpu(MS, 10**9), 'xspace'), run(tpu(2 * MS, 4 * 10**9, steps=16), 'xspace')
    for there, here, words in ((a, b, 'more work, each FLOP faster'), (b, a, 'less work, each FLOP slower')):
        made = compare(there, here)
        check_sums(made)
        assert {(o['significant'], o['reason']) for o in made['ops']} == {(False, words)}
        assert {(o['span_calls_a'], o['span_calls_b']) for o in made['ops']} == {(1, 1)}
        for form in ('text', 'html', 'md'):
            shown = view_profile('compare', f'--format={form}', there, here).stdout
            assert shown.count(words) == len(FUSIONS), form


@pytest.mark.parametrize('flops', [False, True])
def test_csv_is_the_json(run, flops):
    """Every row and figure of the JSON, in rows that kind tells apart."""
    if flops:
        a, b = run(tpu(MS, 10**9), 'xspace'), run(tpu(3 * MS, 10**9, [*FUSIONS[2:], 'fresh']), 'xspace')
    else:
        a, b = run(training(seed=3, noise=1)), run(training(comm=900 * US, pause=2 * MS))
    made = compare(a, b)
    out = view_profile('compare', '--format=csv', a, b).stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    kinds = {kind: [r for r in rows if r['kind'] == kind] for kind in {r['kind'] for r in rows}}

    def same(row, thing):
        for key in ('a_ps', 'b_ps', 'delta_ps', 'calls_a', 'calls_b', 'flops_a', 'flops_b'):
            if key in thing:
                assert row[key] == ('' if thing[key] is None else str(thing[key])), (row, key)

    for row, op in zip(kinds['op'], made['ops'], strict=True):
        same(row, op)
        for key in ('device', 'class', 'category', 'name', 'scope', 'reason'):
            assert row[key] == (op[key] or ''), key
        for key in ('new', 'gone', 'significant'):
            assert row[key] == str(op[key]).lower()
        for key in ('ratio', 'span_calls_a', 'span_calls_b', 'time_per_flop_ratio'):
            assert float(row[key] or 'nan') == pytest.approx(
                float('nan') if op[key] is None else op[key], rel=1e-6, nan_ok=True), key
    classes = {(r['device'], r['name']): r for r in kinds['class']}
    assert len(classes) == 5 * len(made['devices'])
    for d in made['devices']:
        for c in (*CLASSES, 'window'):
            same(classes[d['name'], c], d[c])
        assert sum(int(classes[d['name'], c]['delta_ps']) for c in CLASSES) == d['window']['delta_ps']
    for row, name in zip(kinds['time'], ('step', 'median', 'p90'), strict=True):
        same(row, made[name])
    for row, scope in zip(kinds.get('scope', []), made['scopes'], strict=True):
        assert row['scope'] == scope['path']
        for key in ('a', 'b', 'delta'):
            assert row[f'backward_{key}_ps'] == str(scope['backward'][f'{key}_ps'])
        same(row, scope)
    found = {(r['name'], r['new']) for r in kinds.get('finding', [])}
    assert found == {(f, 'true') for f in made['findings_new']} | {(f, 'false') for f in made['findings_gone']}
    assert [r['reason'] for r in kinds.get('caveat', [])] == made['caveats']
    verdict, = kinds['verdict']
    assert verdict['name'] == made['noise']['verdict'] and verdict['reason'] == made['noise']['reason']
    assert verdict['threshold_ps'] == str(made['noise']['threshold_ps'])
    assert len({r['session_a'] for r in rows}) == 1


def test_renumbered_fusions_are_the_same_ops(run):
    made = compare(run(tpu(MS, 10**9), 'xspace'), run(tpu(MS, 10**9, number=77), 'xspace'))
    assert not any(o['new'] or o['gone'] or o['delta_ps'] for o in made['ops'])


def test_new_and_gone(run):
    other = [*FUSIONS[1:], 'attention_fusion']
    made = compare(run(tpu(MS, 10**9), 'xspace'), run(tpu(MS, 10**9, names=other), 'xspace'))
    check_sums(made)
    assert [o['name'] for o in made['ops'] if o['new']] == ['attention_fusion']
    assert [o['name'] for o in made['ops'] if o['gone']] == [FUSIONS[0]]


def test_different_kinds_of_device(run):
    """A GPU and a TPU: figures, and a caveat instead of a verdict on ops."""
    made = compare(run(training()), run(tpu(MS, 10**9), 'xspace'))
    check_sums(made)
    assert made['caveats']


def test_merge_in_any_order(run, tmp_path):
    """The reports of two hosts, merged either way, are the report of their session but for its identity."""
    folder = run(clean.CASES['tpu_hosts']()[0], 'xspace')
    parts = []
    for host in ('host-a', 'host-b'):
        path = tmp_path / f'{host}.json'
        path.write_text(view_profile('report', '--format=json', f'--host={host}', folder).stdout)
        parts.append(str(path))
    merged = [view_profile('merge', *order).stdout for order in (parts, parts[::-1])]
    assert merged[0] == merged[1]
    made, whole = identities.strict(merged[0]), json.loads(view_profile('report', '--format=json', folder).stdout)
    identities.check(made)
    for key in ('window', 'devices', 'ops', 'scopes', 'steps', 'gaps', 'collectives', 'balance', 'compile',
                'findings'):
        assert made[key] == whole[key], key
