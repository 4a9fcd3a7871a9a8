"""`--step N` answers every question for one step. What the report of the whole says of that step (its
length, its classes, the causes of its idle time, on every device) must be what the step's own report
says of its windows, to the picosecond; and what ran in it is counted here from the file itself."""
import concurrent.futures
import functools
import gzip
import json
import sys

import pytest

from common import ROOT, least, report, report_or_none, timelines, trace, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, host_only  # noqa: E402

RESNET = 'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz'
JAX_CPU = 'jax_cpu/three_runs'
BYTES_MAX = 8_000_000  # of a file: each is read four times


def chosen(made):
    """The first, the middle and the last step; of several with one number the first is meant."""
    steps = made['steps']['list']
    numbers = [s['number'] for s in steps]
    return [steps[i] for i in sorted({0, len(steps) // 2, len(steps) - 1})
            if steps and numbers[i] is not None and numbers.index(numbers[i]) == i]


@functools.cache
def pairs():
    """(file, what the whole says of a step, the step's own report) of all real files with steps."""
    def of(path):
        made = report_or_none(str(path))
        return [(path.name, s, report(str(path), '--step', str(s['number'])))
                for s in (chosen(made) if made else [])]
    files = [p for p in timelines() if p.stat().st_size < BYTES_MAX]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [x for found in pool.map(of, files) for x in found]


def numberless(devices):
    """Devices that no part of the step is on are not in its report: the others count anew."""
    return [{k: v for k, v in d.items() if k != 'device_index'} for d in devices]


def grew(step):
    return step['grew'] and {k: v for k, v in step['grew'].items() if k != 'device_index'}


@pytest.mark.parametrize('case', ['checkpoint', 'slow_worker', 'clean_frames'])
def test_what_grew_in_it_is_what_the_whole_says(case, tmp_path):
    """What made a step slow is seen beside the others; asked for alone it says the same."""
    made = (host_only.CASES | host_only.CLEAN)[case]()
    path = str(files.write(getattr(made, 'scene', made), 'xspace', tmp_path))
    steps = sorted(report(path)['steps']['list'], key=lambda s: -s['dur_ps'])
    for whole in [*steps[:3], steps[-1]]:
        (step,) = report(path, '--step', str(whole['number']))['steps']['list']
        assert step['grew'] == whole['grew'], whole['number']
    if case in host_only.CASES:
        assert steps[0]['grew']['name'] in made.says and steps[0]['grew']['more_ps'] > 10**10


@pytest.mark.slow
def test_the_step_is_the_one_of_the_whole():
    assert len({name for name, _, _ in pairs()}) >= least(20, 15)
    for name, whole, part in pairs():
        assert part['window']['policy'] == 'steps' and part['window']['step'] == whole['number']
        (step,) = part['steps']['list']
        for key in ('number', 'name', 'start_ps', 'dur_ps', 'partial', 'device', 'breakdown'):
            assert step[key] == whole[key], (name, whole['number'], key)
        assert numberless(step['devices']) == numberless(whole['devices']), (name, whole['number'])
        assert grew(step) == grew(whole), (name, whole['number'])


def test_its_devices_windows_are_the_steps():
    seen = 0
    for name, whole, part in pairs():
        of = {(d['name'], d['host']): d for d in whole['devices']}
        for d in part['devices'] if part['analysis']['has_devices'] else []:
            at, b = of[d['name'], d['host']], d['breakdown']
            assert b == at['breakdown'], (name, whole['number'], d['name'])
            assert b['idle_ps'] == sum(d['idle_causes'].values()) == sum(at['idle_causes'].values()), (name, d['name'])
            seen += 1
    assert seen >= 40


def test_what_runs_in_it_is_counted():
    with gzip.open(trace(RESNET)) as f:
        events = [e for e in json.load(f)['traceEvents'] if e.get('ph') == 'X']
    whole = report(RESNET)
    assert len(whole['steps']['list']) == 6
    for step in whole['steps']['list']:
        part = report(RESNET, '--step', str(step['number']), '--group', 'raw')
        on = next(d for d in step['devices'])
        origin = min(e['ts'] for e in events)
        start, end = (on['start_ps'] // 10**6 + origin, (on['start_ps'] + on['dur_ps']) // 10**6 + origin)
        inside = [min(e['ts'] + e['dur'], end) - max(e['ts'], start) for e in events
                  if e.get('cat') in ('Kernel', 'Memcpy', 'Memset') and e['ts'] < end and e['ts'] + e['dur'] > start]
        assert len(inside) > 500
        assert sum(o['calls'] for o in part['ops']) == len(inside)
        assert sum(o['total_ps'] for o in part['ops']) == sum(inside) * 10**6


@pytest.mark.parametrize('path', [RESNET, JAX_CPU])
def test_the_steps_sum_to_the_time_in_steps(path):
    """Steps do not overlap, so the self time of an op in them is the sum of what it has in each."""
    whole = report(path)
    summed = {}
    for step in (s for s in whole['steps']['list'] if not s['partial'] and not s['warm_up']):
        for o in report(path, '--step', str(step['number']))['ops']:
            key = o['device'], o['name'], o['category']
            summed[key] = summed.get(key, 0) + o['self_ps']
    counted = {(o['device'], o['name'], o['category']): o['step_self_ps'] for o in whole['ops']}
    assert len(summed) >= 10
    for key, ps in summed.items():
        assert counted[key] == ps, key


@pytest.mark.parametrize('command', ['top', 'report'])
def test_it_says_that_it_is_not_the_whole(command):
    shown = view_profile(command, '--step', '7', str(trace(RESNET))).stdout
    assert 'step 7' in shown.splitlines()[0] + shown.splitlines()[1]
    done = view_profile(command, '--step', '77', str(trace(RESNET)), check=False)
    assert done.returncode == 4 and 'no step 77; this profile has 6 steps' in done.stderr
    done = view_profile(command, '--step', '-1', str(trace(RESNET)), check=False)
    assert done.returncode == 2


def test_parts_and_wholes_do_not_merge(tmp_path):
    for name, options in (('part', ('--step', '7')), ('whole', ())):
        (tmp_path / name).write_text(json.dumps(report(RESNET, *options)))
    done = view_profile('merge', str(tmp_path / 'part'), str(tmp_path / 'whole'), check=False)
    assert done.returncode != 0 and 'of one step' in done.stderr
    again = view_profile('merge', str(tmp_path / 'part'), '--format', 'json').stdout
    assert json.loads(again)['window']['step'] == 7


def test_a_host_without_the_step_is_said_and_takes_nothing_down(tmp_path):
    run = tmp_path / 'plugins/profile/2026_01_01_00_00_00'
    run.mkdir(parents=True)
    for host, count in (('a', 5), ('b', 2)):
        meta = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:TPU:0'}},
                *({'ph': 'M', 'pid': 1, 'tid': t, 'name': 'thread_name', 'args': {'name': name}}
                  for t, name in ((1, 'Steps'), (2, 'XLA Ops')))]
        work = [{'ph': 'X', 'pid': 1, 'tid': tid, 'ts': 1000 * i, 'dur': 900, 'name': name}
                for i in range(count) for tid, name in ((1, str(i)), (2, 'fusion'))]
        (run / f'{host}.trace.json').write_text(json.dumps({'traceEvents': meta + work}))
    both, one = (report(str(tmp_path), '--step', str(n)) for n in (1, 3))
    assert [d['host'] for d in both['devices']] == ['a', 'b'] and both['quality'] == []
    assert [d['host'] for d in one['devices']] == ['a']
    (note,) = one['quality']
    assert (note['code'], note['partial'], note['file'][-12:]) == ('no-step', False, 'b.trace.json')
    assert not one['analysis']['partial'] and not any(f['partial'] for f in one['session']['files'])
    assert not [f for f in one['findings'] if f['id'] == 'F23' and f['status'] == 'fired']
