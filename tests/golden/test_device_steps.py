"""Device steps of JAX on CPU (docs/reference/links.md#runs-of-xla-cpu): a step ends when the last run
ends that was launched within its annotation. Real files against a computation from the events
alone, and generated programs whose launches and runs are known."""
import importlib.util

import pytest

from common import reference_script, report, table, trace
from gen import files
from gen.scene import MS, US, Event, Op, Scene

WITH_OPS = {r['path'] for r in table('expected/jax_cpu/computed_hlo_ops.tsv')}
RUNS = sorted({r['path'] for r in table('expected/jax_cpu/computed_steps.tsv')} & WITH_OPS)
LAUNCH = 'CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice'
WAIT = 'ThunkExecutor::Execute (wait for completion)'


# ---- real files ----------------------------------------------------------------------------------

def events_of(path):
    """(line, name, start, end, stats) of the host's threads, in ps"""
    spec = importlib.util.spec_from_file_location('reference', reference_script())
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    plane = next(p for p in reference.xspace(str(trace(path))) if p.name == '/host:CPU')
    return [(number, plane.meta[meta][0], start, start + dur, stats)
            for number, line in enumerate(plane.lines) for start, dur, meta, stats in line.events]


def runs_and_launches(events):
    """(device, run) → (start, end, launch), by the ids and the order of the file."""
    ends = {(s.get('_ct'), s['_c']): end for _, name, _, end, s in events if name.startswith('end: ') and '_c' in s}
    waits, runs, inline, launch_of = {}, {}, set(), {}
    launches = [(start, end, line) for line, name, start, end, _ in events if name == LAUNCH]
    for line, name, start, end, stats in events:
        if name == WAIT:
            waits[stats['run_id']] = max(end, waits.get(stats['run_id'], 0))
        elif 'hlo_op' in stats and 'run_id' in stats:
            key = stats.get('device_ordinal', 0), stats['run_id']
            end = max(end, ends.get((stats.get('_pt'), stats.get('_p')), end))
            had = runs.get(key, (start, end))
            runs[key] = min(had[0], start), max(had[1], end)
            for launch in launches:
                if launch[2] == line and launch[0] <= start < launch[1]:
                    inline.add(launch)
                    launch_of[key] = launch[0]
        elif 'LoadedExecutable::Execute (' in name and 'run_id' in stats and not name.startswith('['):
            for key in [k for k in runs if k[1] == stats['run_id']]:
                launch_of.setdefault(key, start)
    for key in runs:
        for _, name, start, _, stats in events:
            if stats.get('run_id') == key[1] and 'LoadedExecutable::Execute (' in name and not name.startswith('['):
                launch_of.setdefault(key, start)
    left = sorted((runs[k][0], k) for k in runs if k not in launch_of)
    for (_, key), launch in zip(left, sorted(set(launches) - inline)):
        launch_of[key] = launch[0]
    return {k: (start, min(end, waits.get(k[1], end)), launch_of.get(k)) for k, (start, end) in runs.items()}


def expected_steps(path):
    events = events_of(path)
    marks = sorted((start, end, s['step_num']) for _, _, start, end, s in events if 'step_num' in s)
    runs = runs_and_launches(events)
    durations = []
    for device in sorted({k[0] for k in runs}):
        mine, before, lengths = [r for k, r in runs.items() if k[0] == device], None, []
        for start, end, _ in marks:
            reach = max([end] + [r[1] for r in mine if r[2] is not None and start <= r[2] <= end])
            start = start if before is None else max(start, before)
            before = max(reach, start)
            lengths.append(before - start)
        durations.append(lengths)
    return [max(d) for d in zip(*durations)]


@pytest.mark.parametrize('path', [p for p in RUNS if 'server_capture' not in p])
def test_real_steps_end_with_their_device_work(path):
    made = report('jax_cpu/' + path)['steps']['list']
    assert [s['dur_ps'] for s in made] == expected_steps('jax_cpu/' + path)


# ---- generated programs --------------------------------------------------------------------------

class Program:
    """One thread launches runs on CPU devices; a device runs them in order."""

    def __init__(self, devices=1):
        self.scene = Scene()
        self.host = self.scene.host
        self.python = self.host.thread('python')
        self.devices = [self.host.device('cpu') for _ in range(devices)]
        for number, device in enumerate(self.devices):
            device.ordinal = number
        self.pool = self.host.thread('tf_XLAPjRtCpuClient/1')
        self.now, self.free, self.run = 0, [0] * devices, 100

    def record_run(self, device, start, dur, run):
        ops = 4
        for i in range(ops):
            self.devices[device].ops.append(Op(f'fusion.{i}', start + i * dur // ops, dur // ops, 'hlo', module='jit_step',
                                               program_id=7, stats={'run_id': run}))
        self.free[device] = start + dur

    def launch(self, dur, device=0, recorded=True, host=20 * US):
        """An asynchronous run; recorded: its launch is in the capture."""
        if recorded:
            self.python.events.append(Event(LAUNCH, self.now, host))
        start = max(self.now + host, self.free[device])
        self.run += 1
        self.record_run(device, start, dur, self.run)
        self.pool.events.append(Event(WAIT, start, dur, {'run_id': self.run, 'device_ordinal': device}))
        self.now += host

    def launch_all(self, durations):
        """One program on all devices: its launch carries the run's id."""
        self.run += 1
        self.python.events.append(Event('CommonPjRtLoadedExecutable::Execute (jit_step)', self.now, 30 * US, {'run_id': self.run}))
        for device, dur in enumerate(durations):
            self.record_run(device, max(self.now + 30 * US, self.free[device]), dur, self.run)
        self.now += 30 * US

    def step(self, number, body):
        start = self.now
        body()
        self.now += 5 * US
        self.python.events.append(Event('train', start, self.now - start, {'_r': 1, 'step_num': number}))
        self.now += 2 * US

    def wait(self):
        self.now = max([self.now] + self.free)

    def report(self, folder):
        return report(files.write(self.scene, 'xspace', folder))


def step_lengths(made):
    return [s['dur_ps'] for s in made['steps']['list']]


def test_steps_of_an_asynchronous_program_last_as_long_as_its_runs(tmp_path):
    p = Program()
    for i in range(8):
        p.step(i, lambda: p.launch(3 * MS))
    lengths = step_lengths(p.report(tmp_path))
    assert lengths == [3 * MS + 20 * US] + [3 * MS] * 7


def test_a_step_that_waits_lasts_as_long_as_its_annotation(tmp_path):
    p = Program()
    for i in range(5):
        p.step(i, lambda: (p.launch(2 * MS), p.wait()))
    assert step_lengths(p.report(tmp_path)) == [2 * MS + 25 * US] * 5


def test_runs_launched_before_the_capture_belong_to_no_step(tmp_path):
    p = Program()
    p.launch(4 * MS, recorded=False)
    p.launch(4 * MS, recorded=False)
    for i in range(6):
        p.step(i, lambda: p.launch(3 * MS))
    # the device is busy with earlier work first; every step has its own run
    assert step_lengths(p.report(tmp_path)) == [3 * MS] * 6


def test_launches_whose_runs_come_after_the_capture(tmp_path):
    p = Program()
    for i in range(6):
        p.step(i, lambda: p.launch(3 * MS))
    for _ in range(2):
        p.python.events.append(Event(LAUNCH, p.now, 20 * US))
        p.now += 25 * US
    assert step_lengths(p.report(tmp_path))[1:] == [3 * MS] * 5


def test_runs_of_the_launching_thread_are_not_counted_in_the_order(tmp_path):
    """Small programs run inside their launch: the order of the others must not shift."""
    p = Program()
    for i in range(6):
        def body():
            start = p.now
            p.run += 1
            p.python.events.append(Event(LAUNCH, start, 60 * US))
            p.python.events.append(Event('add', start + 10 * US, 30 * US, {
                'hlo_op': 'add', 'hlo_module': 'jit_add', 'program_id': 9, 'device_ordinal': 0, 'run_id': p.run}))
            p.now += 60 * US
            p.launch(3 * MS)
        p.step(i, body)
    assert step_lengths(p.report(tmp_path))[1:] == [3 * MS] * 5


def test_a_run_on_several_devices_is_linked_by_its_id(tmp_path):
    p = Program(devices=4)
    for i in range(5):
        p.step(i, lambda: p.launch_all([1 * MS, 2 * MS, 3 * MS, 2 * MS]))
    made = p.report(tmp_path)
    assert step_lengths(made) == [3 * MS + 30 * US] + [3 * MS] * 4
    assert {len(s['devices']) for s in made['steps']['list']} == {4}


def test_the_end_of_an_op_that_is_recorded_late_does_not_lengthen_its_step(tmp_path):
    """The event that ends an asynchronous op may come after the wait for its run."""
    p = Program()
    for i in range(5):
        def body():
            p.launch(2 * MS)
            if i == 2:
                last = p.devices[0].ops[-1]
                last.stats |= {'_pt': 3, '_p': 77}
                p.pool.events.append(Event('end: ' + last.name, last.end + 9 * MS, 1 * US, {'_ct': 3, '_c': 77}))
            p.wait()
        p.step(i, body)
    assert step_lengths(p.report(tmp_path)) == [2 * MS + 25 * US] * 5


def test_without_launches_steps_are_their_annotations(tmp_path):
    p = Program()
    for i in range(5):
        p.step(i, lambda: p.launch(3 * MS, recorded=False))
    made = p.report(tmp_path)
    assert step_lengths(made) == [25 * US] * 5
    assert 'steps-apart' in {q['code'] for q in made['quality']}


def test_two_devices_without_ids_are_not_guessed(tmp_path):
    """Nothing tells which launch started a run on which of them."""
    p = Program(devices=2)
    for i in range(5):
        p.step(i, lambda: (p.launch(3 * MS, 0), p.launch(3 * MS, 1)))
    assert step_lengths(p.report(tmp_path)) == [45 * US] * 5


def unlinked_runs(made):
    return [q['message'] for q in made['quality'] if q['code'] == 'unlinked-runs']


def test_runs_without_a_launch_are_counted(tmp_path):
    """And why: the recording began after their launch, or a launch on one of several devices does not name it."""
    late = Program()
    for i in range(8):
        late.launch(MS, recorded=i >= 3)
    assert unlinked_runs(late.report(tmp_path / 'late')) == ['3 of 8 runs of modules have no launch: 3 launched before the recording']
    several = Program(2)
    for i in range(6):
        several.launch(MS, device=i % 2)
    several.launch_all([MS, MS])
    assert unlinked_runs(several.report(tmp_path / 'several')) == [
        '6 of 8 runs of modules have no launch: 6 on several devices, which their launches do not name']
    whole = Program()
    whole.launch(MS)
    assert not unlinked_runs(whole.report(tmp_path / 'whole'))
