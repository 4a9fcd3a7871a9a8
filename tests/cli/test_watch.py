"""`view_profile watch`: jobs captured on a schedule. What they bring are profiles of our own making, by a stand-in for
XLA's ProfilerService."""
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fetching  # noqa: E402
from emulated import not_emulated, plain_program  # noqa: E402
from gen import planted, scene, xspace  # noqa: E402
from gen.scene import US  # noqa: E402

pytest.importorskip('h2', reason='SKIP: scripts/requirements-test.txt is not installed: h2')
from profiler_server import TERMINATE, ProfilerServer, plane, response  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason='SKIP: built without libcurl')
WAIT = 60
LAYERS = ('embed', 'attention', 'mlp', 'loss')


def profile(first, slow=None, by=3, steps=10, seed=1, start_ns=scene.EPOCH_NS, peak=0, slow_steps=None):
    """An XSpace of numbered steps; the ops of one layer may take `by` times as long, in `slow_steps` of them from the third
    on or in all, and `peak` bytes may be allocated."""
    s = scene.Scene(seed=seed)
    s.host.start_ns = start_ns
    chip = scene.TpuChip(s)
    for n in range(first, first + steps):
        is_slow = slow_steps is None or 2 <= n - first < 2 + slow_steps
        with chip.step(n), chip.module(run=n):
            for layer in LAYERS:
                chip.op(f'{layer}_fusion.1', s.noise(300 * US * (by if is_slow and layer == slow else 1), 0.3), 'loop fusion',
                        scope=f'jit_train_step/model/{layer}/dot_general')
        chip.idle(30 * US)
    if peak:
        planted.allocations(s.host.thread('python'), 1 << 34, peak, every=100 * US)
    return xspace.encode(s.host)


class Job(ProfilerServer):
    """A running job: what captures of it bring, one after the other; the last again and again. Its server runs from its
    making to the test's end, which is that of `jobs`."""

    def __init__(self, jobs, at=None):
        super().__init__(self.bring)
        self.todo, self.count = [], 0
        if at:
            self.listener.close()
            self.listener = socket.create_server(at)
            self.target = '%s:%d' % at
        jobs.enter_context(self)

    def bring(self, call):
        what = self.todo[min(self.count, len(self.todo) - 1)]
        self.count += 1
        what(call)

    def brings(self, data):
        self.todo.append(lambda call: call.answer(response(data)))
        return self

    def fails(self, status):
        self.todo.append(lambda call: call.only_trailers(status))
        return self

    def hangs(self, data):
        self.todo.append(lambda call: (call.wait(WAIT), call.answer(response(data))))
        return self


class Watch:
    def __init__(self, place, tmp_path, program):
        self.place, self.root, self.program = place, tmp_path, program
        self.out = tmp_path / 'out'
        self.env = place.env

    def argv(self, *args):
        every = [] if '--every' in args else ['--every', '100ms']
        return [str(self.program), 'watch', *every, '--duration', '10ms', '--out', str(self.out), *map(str, args)]

    def run(self, *args, **more):
        return subprocess.run(self.argv(*args), env=self.env, capture_output=True, text=True, timeout=WAIT, **more)

    def start(self, *args):
        return subprocess.Popen(self.argv(*args), env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def events(self, *args, code=0):
        done = self.run('--format', 'json', *args)
        assert done.returncode == code, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def state(self, at=0):
        return json.loads((self.out / '.view_profile-watch.json').read_text())['targets'][at]

    def runs(self):
        return sorted(p.name for p in (self.out / 'plugins' / 'profile').iterdir())


@pytest.fixture
def jobs():
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def job(jobs):
    return Job(jobs)


@pytest.fixture
def watch(place, tmp_path, program):
    return Watch(place, tmp_path, program)


def until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def steady(job, count, first=0):
    for i in range(count):
        job.brings(profile((first + i) * 100, seed=first + i))
    return job


def slow(job, count, first, layer='mlp'):
    for i in range(count):
        job.brings(profile((first + i) * 100, layer, seed=first + i))
    return job


def test_the_slowed_scope_is_named(watch, job):
    slow(steady(job, 3), 3, 3)
    events, _ = watch.events(job.target, '--times', 6, '--max-regression', '20%', code=1)
    assert [e['event'] for e in events] == ['capture'] * 6
    assert [e['verdict'] for e in events][0] == 'baseline'
    assert [e['slower'] for e in events] == [False] * 3 + [True] * 3
    for e in events[3:]:
        assert 'scope jit_train_step/model/mlp' in e['words'] or 'scope model/mlp' in e['words'], e['words']
        assert 'op mlp_fusion' in e['words'] and '48.' in e['words'] and 'more than the baseline' in e['words'], e['words']
        assert 'attention' not in e['words']
    assert watch.state()['state'] == 'slower' and watch.state()['words'] == events[-1]['words']
    assert [f['verdict'] for f in watch.state()['figures']][3:] == ['regression'] * 3


def test_memory_that_grew_is_named(watch, job):
    job.brings(profile(0, peak=1 << 30)).brings(profile(100, seed=2, peak=2 << 30))
    events, _ = watch.events(job.target, '--times', 2, '--fail-on-peak', '20%', code=1)
    assert events[1]['slower'] and events[1]['verdict'] == 'noise'
    words = events[1]['words']
    assert '; peak of GPU_0_bfc 2.0 GiB, 1.0 GiB more' in words, words
    assert not any(layer in words for layer in LAYERS), words  # what is within the noise explains nothing


def test_memory_may_grow_by_what_is_allowed(watch, job):
    job.brings(profile(0, peak=1 << 30)).brings(profile(100, seed=2, peak=2 << 30))
    events, _ = watch.events(job.target, '--times', 2, '--fail-on-peak', '200%')
    assert not events[1]['slower'] and 'peak' not in events[1]['words'], events[1]


def test_a_program_that_needs_more_is_named(watch, job, traces):
    """As the compiler planned it, in what JAX wrote."""
    found = []
    for name in ('mnist_train', 'recompile', 'multi_device', 'odd_names'):
        for path in sorted((traces / 'jax_cpu' / name).rglob('*.xplane.pb'))[:1]:
            done = subprocess.run([watch.program, 'report', '--format', 'json', path], env=watch.env, capture_output=True, check=True)
            found += sorted((m['peak_bytes'], m['module'], path) for m in json.loads(done.stdout)['memory_static']
                            if m['ran'] and not m['space'])[-1:]
    (less, _, a), *_, (more, module, b) = sorted(found)
    assert less < more
    job.brings(a.read_bytes()).brings(b.read_bytes())
    events, _ = watch.events(job.target, '--times', 2, '--max-regression', '10000%', '--fail-on-peak', '1%', code=1)
    assert events[1]['slower'] and f'; peak planned for {module} ' in events[1]['words'], events[1]
    assert re.search(r'peak planned for \S+ [\d.]+ [KM]?i?B, [\d.]+ [KM]?i?B more than the baseline', events[1]['words'])


def test_slow_steps_among_others_are_named(watch, job):
    """Of whole steps, some take three times as long in one layer: that moves no median, but the mean."""
    job.brings(profile(0, steps=20)).brings(profile(100, 'mlp', seed=2, steps=20, slow_steps=3))
    events, _ = watch.events(job.target, '--times', 2, '--max-p90-regression', '20%', code=1)
    words = events[1]['words']
    assert events[1]['slower'] and events[1]['verdict'] == 'regression', events[1]
    assert '; 90th percentile 1.8' in words and '48.' in words and 'peak' not in words, words


@pytest.mark.parametrize('args, is_slower', [
    (('--fail-on', 'high'), True),  # beside the default
    (('--fail-on-peak', '20%'), True),
    (('--max-regression', '90%'), False),  # in its place
    (('--max-regression', '90%', '--fail-on', 'regression'), True),
    (('--max-p90-regression', '20%'), True),
    (('--max-p90-regression', '90%'), False),
    (('--max-regression', '90%', '--fail-on', 'F17'), True),  # it has a finding that the baseline has not, and only that
    (('--max-regression', '90%', '--fail-on', 'F10'), False)])
def test_what_counts_as_slower(watch, job, args, is_slower):
    """Of steps that take half as long again."""
    slow(steady(job, 1), 1, 1)
    events, _ = watch.events(job.target, '--times', 2, *args, code=int(is_slower))
    assert events[1]['verdict'] == 'regression' and events[1]['slower'] is is_slower, events[1]
    assert ('new findings: F17' in events[1]['words']) is is_slower, events[1]


def test_text_says_it_on_one_line_a_capture(watch, job):
    slow(steady(job, 1), 1, 1)
    done = watch.run(job.target, '--times', 2)
    assert done.returncode == 1 and done.stderr == ''
    first, second = done.stdout.splitlines()
    assert ' baseline: median step ' in first and ' SLOWER: median step ' in second and job.target in second


def test_an_improvement_says_where(watch, job):
    steady(slow(job, 1, 0), 1, 1)
    events, _ = watch.events(job.target, '--times', 2)
    assert events[1]['verdict'] == 'improvement' and 'less than the baseline' in events[1]['words']
    assert 'mlp' in events[1]['words']


def test_the_history_is_one_that_trend_reads(watch, job):
    slow(steady(job, 3), 1, 3)
    watch.events(job.target, '--times', 4, code=1)
    done = subprocess.run([watch.program, 'trend', '--format', 'json', watch.out / 'history.jsonl'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)['runs']
    assert [r['session']['name'] for r in runs] == [f['run'] for f in watch.state()['figures']]
    assert [(r['first_step'], r['last_step']) for r in runs] == [(n, n + 8) for n in (0, 100, 200, 300)]  # the last was cut


def test_the_newest_are_kept_and_the_baseline(watch, job):
    steady(job, 7)
    foreign = watch.out / 'plugins' / 'profile' / '2020_01_01_00_00_00'
    foreign.mkdir(parents=True)
    (foreign / 'mine.txt').write_text('x')
    events, _ = watch.events(job.target, '--times', 7, '--keep', 3)
    made = [e['run'] for e in events]
    assert watch.runs() == sorted(['2020_01_01_00_00_00', made[0], *made[-3:]])
    assert [r['run'] for r in watch.state()['runs']] == [made[0], *made[-3:]]
    reports = sorted(p.stem for p in (watch.out / '.view_profile-watch').glob('*.json'))
    assert reports == sorted([made[0], *made[-3:]])
    assert not (watch.out / '.view_profile-watch' / 'removing').exists()


def test_what_took_the_place_of_a_run_is_not_removed(watch, job):
    steady(job, 3)
    first, _ = watch.events(job.target, '--times', 3, '--keep', 3)
    place = watch.out / 'plugins' / 'profile' / first[1]['run']
    shutil.rmtree(place)
    place.mkdir()  # often with the number that became free
    (place / 'mine.txt').write_text('x')
    steady(job, 6, 3)
    watch.events(job.target, '--times', 6, '--keep', 1)
    assert (place / 'mine.txt').exists()
    assert len(watch.runs()) == 3  # the baseline, the foreign one, the newest


def test_a_link_in_the_place_of_a_run_is_not_followed(watch, job, tmp_path):
    steady(job, 3)
    first, _ = watch.events(job.target, '--times', 3)
    place = watch.out / 'plugins' / 'profile' / first[1]['run']
    shutil.move(place, tmp_path / 'elsewhere')
    place.symlink_to(tmp_path / 'elsewhere')
    watch.events(job.target, '--times', 3, '--keep', 1)
    assert place.is_symlink() and any((tmp_path / 'elsewhere').iterdir())


def test_a_damaged_state_makes_all_runs_foreign(watch, job):
    steady(job, 2)
    watch.events(job.target, '--times', 2)
    for text in ('{', '[]', '{"schema": "view_profile.watch/1", "targets": [{"name": "a", "runs": [{"run": "../../x"}]}, 7]}'):
        before = watch.runs()
        (watch.out / '.view_profile-watch.json').write_text(text)
        watch.events(job.target, '--times', 2, '--keep', 1)
        assert set(before) <= set(watch.runs())


def test_a_later_watch_goes_on(watch, job):
    steady(job, 2)
    first, _ = watch.events(job.target, '--times', 2)
    second, _ = watch.events(job.target, '--times', 2)
    assert second[0]['baseline_run'] == first[0]['run'] and second[0]['verdict'] == 'noise'
    assert watch.state()['captures'] == 4 and len(watch.state()['figures']) == 4


def test_best_is_the_shortest_median(watch, job):
    job.brings(profile(0, 'mlp')).brings(profile(100)).brings(profile(200, 'mlp'))
    events, _ = watch.events(job.target, '--times', 3, '--baseline', 'best', '--max-regression', '10%', code=1)
    assert [e['slower'] for e in events] == [False, False, True]
    assert events[2]['baseline_run'] == events[1]['run']


def test_a_baseline_may_be_named(watch, job, tmp_path):
    steady(job, 1)
    base = tmp_path / 'base' / 'plugins' / 'profile' / '2026_01_01_00_00_00'
    base.mkdir(parents=True)
    (base / 'h.xplane.pb').write_bytes(profile(0, 'loss'))
    events, _ = watch.events(job.target, '--times', 1, '--baseline', base)
    assert events[0]['verdict'] == 'improvement' and 'loss' in events[0]['words']
    shutil.copytree(base, watch.out / 'plugins' / 'profile' / base.name)
    events, _ = watch.events(job.target, '--times', 2, '--baseline', base.name, '--keep', 1)
    assert [e['verdict'] for e in events] == ['improvement'] * 2 and base.name in watch.runs()
    done = watch.run(job.target, '--baseline', 'no_such_run')
    assert done.returncode == 2 and 'no such run' in done.stderr


def test_gone_and_back(watch, job):
    steady(job, 1)
    for _ in range(3):
        job.fails(12)
    steady(job, 2, 1)
    events, said = watch.events(job.target, '--times', 6, '--every', '100ms')
    assert [e['event'] for e in events] == ['capture', 'state', 'state', 'capture', 'capture'] or \
           [e['event'] for e in events] == ['capture', 'state', 'capture', 'state', 'capture']
    assert [e['state'] for e in events if e['event'] == 'state'] == ['gone', 'ok']
    assert watch.state()['failures'] == 3 and watch.state()['error'] is None


def test_trouble_is_said_once_in_text(watch, job):
    for _ in range(4):
        job.fails(6)
    steady(job, 1)
    done = watch.run(job.target, '--times', 5)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f'view_profile: {job.target}: busy: busy with another capture (gRPC status 6)',
        f'view_profile: {job.target}: captures work again']


def test_nothing_came(watch):
    with socket.create_server(('127.0.0.1', 0)) as free:
        target = '127.0.0.1:%d' % free.getsockname()[1]
    events, _ = watch.events(target, '--times', 2, code=6)
    assert [e['state'] for e in events] == ['gone'] and 'Connection refused' in events[0]['error']
    assert not list(watch.out.rglob('*.xplane.pb'))


def test_a_damaged_profile_ends_nothing(watch, job):
    steady(job, 1).brings(b'\x0a\xff\xff\xff\xff\x0f no profile').brings(b'')
    steady(job, 2, 1)
    events, _ = watch.events(job.target, '--times', 5)
    assert [e['state'] for e in events if e['event'] == 'state'] == ['failed', 'ok']
    assert events[-1]['verdict'] == 'noise'


def test_runs_that_cannot_be_analysed_do_not_pile_up(watch, job):
    job.brings(plane('/host:CPU'))
    events, _ = watch.events(job.target, '--times', 5, '--keep', 2, code=6)
    assert [e['state'] for e in events] == ['failed']
    assert len(watch.runs()) == 2 and watch.state()['baseline_run'] is None
    steady(job, 1)
    events, _ = watch.events(job.target, '--times', 3, '--keep', 2)
    assert [e['verdict'] for e in events if e['event'] == 'capture'][0] == 'baseline'


def test_of_several_hosts_those_that_answer_count(watch, job):
    steady(job, 1)
    with socket.create_server(('127.0.0.1', 0)) as free:
        nobody = '127.0.0.1:%d' % free.getsockname()[1]
    target = f'both={job.target},{nobody}'
    done = watch.run(target, '--times', 2)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    (line,) = done.stderr.splitlines()
    assert '(both): incomplete: ' in line and nobody in line and 'refused' in line
    assert watch.state()['state'] == 'ok' and nobody in watch.state()['error']


def test_a_signal_ends_it_at_once(watch, job):
    """Without it, the watch would go on for an hour."""
    for number in (signal.SIGTERM, signal.SIGINT):
        steady(job, 1)
        running = watch.start(job.target, '--every', '1h')
        assert 'median step' in running.stdout.readline()
        running.send_signal(number)
        assert running.wait(WAIT) == 0
        assert running.stderr.read() == ''
        assert json.loads((watch.out / '.view_profile-watch.json').read_text())['pid'] is None


@pytest.mark.parametrize('number, started', [(signal.SIGHUP, ['nohup']),
                                             (signal.SIGINT, ['sh', '-c', 'trap "" INT; exec "$@"', 'sh'])])
def test_what_it_was_to_ignore_does_not_end_it(watch, job, number, started):
    """nohup, and a script's &."""
    not_emulated("a program that another becomes does not hear what was ignored")
    steady(job, 1)
    running = subprocess.Popen([*started, *watch.argv(job.target, '--every', '200ms')], env=watch.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert 'median step' in running.stdout.readline()
    running.send_signal(number)
    assert 'median step' in running.stdout.readline() and 'median step' in running.stdout.readline()
    running.terminate()
    running.communicate(timeout=WAIT)
    assert running.returncode == 0


def test_a_signal_reaches_a_running_capture(watch, job):
    job.hangs(profile(0))
    running = watch.start(job.target, '--every', '1h', '--format', 'json')
    until(job.asked)
    running.send_signal(signal.SIGTERM)
    assert running.wait(WAIT) == 0
    assert job.asked(TERMINATE)
    assert len(watch.runs()) == 1 and [r['run'] for r in watch.state()['runs']] == watch.runs()


def status_of(pid, key):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith(key + ':'):
            return int(line.split()[1])
    return None


@pytest.mark.needs_release
def test_it_stays_small(watch, job):
    not_emulated("memory is mostly the emulator's")
    watch.program = plain_program()
    slow(steady(job, 3), 2, 3)
    running = watch.start(job.target, '--every', '100ms')
    for _ in range(6):
        assert running.stdout.readline()
    high, now = status_of(running.pid, 'VmHWM'), status_of(running.pid, 'VmRSS')
    running.terminate()
    running.wait(WAIT)
    assert high < 10_000 and now < 10_000, (high, now)


def test_one_watch_a_directory(watch, job):
    steady(job, 1)
    running = watch.start(job.target, '--every', '1h')
    assert running.stdout.readline()
    done = watch.run(job.target)
    assert done.returncode == 5 and 'another view_profile watch' in done.stderr
    running.terminate()
    running.wait(WAIT)


def test_a_program_is_run_by_its_argv(watch, job, tmp_path):
    slow(steady(job, 1), 3, 1)
    told = tmp_path / 'told;touch evil'
    program = tmp_path / 'notify; rm -rf x.py'
    program.write_text(f'#!{sys.executable}\nimport json, os, sys\n'
                       'open(sys.argv[1], "a").write(json.dumps([sys.argv[2:], os.environ["VIEW_PROFILE_WATCH_TARGET"], '
                       'os.environ["VIEW_PROFILE_WATCH_WORDS"]]) + "\\n")\n')
    program.chmod(0o755)
    events, said = watch.events(job.target, '--times', 4, '--on-regression', program, '--on-regression-arg', told,
                                '--on-regression-arg', '$(touch evil)', code=1)
    assert said == ''
    (line,) = told.read_text().splitlines()  # once, though it was slower three times
    (argument, a, b), target, words = json.loads(line)
    assert argument == '$(touch evil)' and target == job.target and words == events[1]['words']
    for path, run in ((a, events[0]['run']), (b, events[1]['run'])):
        assert json.loads(pathlib.Path(path).read_text())['session']['name'] == run


def test_a_program_that_fails_or_is_none(watch, job, jobs, tmp_path):
    not_emulated("vfork is fork, and why a program cannot be started is not heard")
    slow(steady(job, 1), 1, 1)
    _, said = watch.events(job.target, '--times', 2, '--on-regression', '/bin/false', code=1)
    assert said == 'view_profile: --on-regression /bin/false: exited with code 1\n'
    job2 = slow(steady(Job(jobs), 1), 1, 1)
    _, said = watch.events(job2.target, '--times', 2, '--on-regression', tmp_path / 'none', code=1)
    assert 'cannot start: No such file' in said


def test_a_directory_that_cannot_be_written(watch, job, tmp_path):
    steady(job, 1)
    (tmp_path / 'file').write_text('')
    watch.out = tmp_path / 'file' / 'below'
    done = watch.run(job.target, '--times', 1)
    assert done.returncode == 3 and done.stderr.count('\n') == 1 and str(tmp_path / 'file') in done.stderr
    if os.geteuid():
        watch.out = tmp_path / 'locked'
        watch.out.mkdir(mode=0o500)
        done = watch.run(job.target, '--times', 1)
        assert done.returncode == 3 and 'locked' in done.stderr


def test_a_full_disk_leaves_no_half_line(watch, job):
    steady(job, 2)
    watch.events(job.target, '--times', 1)
    history = watch.out / 'history.jsonl'
    before = history.read_bytes()
    # A file-size limit is to a writer what a full disk is, and stops no file that is smaller.
    padding = b'\n' * (4 << 20)
    history.write_bytes(before + padding)
    room = len(before) + len(padding) + 100
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # inherited: a write then fails instead
    try:
        done = watch.run('--format', 'json', job.target, '--times', 1,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
    finally:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    assert done.returncode == 6 and 'history.jsonl: cannot append a line' in done.stdout, done.stdout
    assert history.read_bytes() == before + padding
    history.write_bytes(before)
    events, _ = watch.events(job.target, '--times', 1)
    assert len(history.read_text().splitlines()) == 2


def test_a_history_that_somebody_rotates(watch, job, tmp_path):
    steady(job, 4)
    watch.events(job.target, '--times', 2)
    (watch.out / 'history.jsonl').rename(watch.out / 'history.jsonl.1')
    running = watch.start(job.target, '--every', '200ms')
    assert 'median step' in running.stdout.readline()
    (watch.out / 'history.jsonl').rename(watch.out / 'history.jsonl.2')
    assert 'median step' in running.stdout.readline()
    until(lambda: (watch.out / 'history.jsonl').exists())
    running.terminate()
    assert running.communicate(timeout=WAIT)[1] == ''
    assert len((watch.out / 'history.jsonl.1').read_text().splitlines()) == 2
    assert all(json.loads(line) for p in watch.out.glob('history*') for line in p.read_text().splitlines())


def test_a_disk_that_fills_while_a_run_comes(watch, job):
    """Said once; the job is captured again when there is room."""
    large = profile(0) + plane('/host:padding', fetching.field(2, b'x' * (16 << 20)))
    job.brings(large).brings(large)
    steady(job, 1)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        done = watch.run('--format', 'json', job.target, '--times', 3, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20)))
    finally:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [e['state'] for e in events if e['event'] == 'state'] == ['failed', 'ok'], events
    assert 'cannot write the profile' in events[0]['error'] and done.returncode == 0
    assert len(watch.runs()) == 1 and watch.state()['failures'] == 2


def test_a_fleet(watch, jobs, tmp_path):
    hosts = tmp_path / 'hosts'
    targets = [steady(Job(jobs), 3).target for _ in range(6)]
    hosts.write_text('# a list\n\n' + ''.join(f' {t} \r\n' for t in targets))
    events, _ = watch.events('--hosts-file', hosts, '--parallel', 3, '--times', 2)
    for target in targets:
        of = [e for e in events if e['target'] == target]
        name = target.replace(':', '_')
        assert [e['verdict'] for e in of] == ['baseline', 'noise'] and all(name in e['run'] for e in of)
        assert len((watch.out / f'history-{name}.jsonl').read_text().splitlines()) == 2
    assert len(watch.runs()) == 12


def test_no_more_than_parallel_are_captured_at_once(watch, jobs):
    inside, most, lock = [0], [0], threading.Lock()

    def answer(call):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.3)
        with lock:
            inside[0] -= 1
        call.answer(response(profile(0)))
    targets = [jobs.enter_context(ProfilerServer(answer)).target for _ in range(4)]
    events, _ = watch.events(*targets, '--times', 1, '--parallel', 2)
    assert sorted(e['target'] for e in events) == sorted(targets) and most == [2]


def test_jobs_that_began_together_drift_apart(watch, jobs):
    """A tenth more or less by chance; six that lie within 20 s of 12 min by chance are one in ten million."""
    targets = [steady(Job(jobs), 1).target for _ in range(6)]
    running = watch.start(*targets, '--every', '1h')
    for _ in targets:
        assert 'median step' in running.stdout.readline()
    until(lambda: all(watch.state(i)['next_unix_ms'] and watch.state(i)['figures'] for i in range(6)))
    running.terminate()
    assert running.wait(WAIT) == 0
    waits = [watch.state(i)['next_unix_ms'] - watch.state(i)['figures'][0]['unix_ms'] for i in range(6)]
    # From the start of a capture on, and figures are those of its end.
    assert all(53 * 60_000 < wait <= 66 * 60_000 for wait in waits), waits
    assert max(waits) - min(waits) > 20_000, waits


def test_a_job_that_moves_keeps_its_history(watch, jobs, tmp_path):
    hosts = tmp_path / 'hosts'
    old, new = steady(Job(jobs), 2), slow(Job(jobs), 2, 2)
    hosts.write_text(f'train={old.target}\n')
    running = watch.start('--hosts-file', hosts, '--format', 'json', '--every', '300ms')
    first = json.loads(running.stdout.readline())
    hosts.write_text(f'train={new.target}\nother=c:3 x\n')  # damaged: said, and nothing changes
    said = running.stderr.readline()
    assert 'line 2' in said and 'is not HOST:PORT' in said
    hosts.write_text(f'train={new.target}\n')
    for line in running.stdout:
        event = json.loads(line)
        if event['target'] == new.target:
            break
    running.terminate()
    assert running.communicate()[1] == ''
    assert event['name'] == 'train' and event['baseline_run'] == first['run'] and event['slower']


def test_what_left_the_list_is_let_alone(watch, jobs, tmp_path):
    hosts = tmp_path / 'hosts'
    a, b = (steady(Job(jobs), 1).target for _ in 'ab')
    hosts.write_text(f'{a}\n{b}\n')
    watch.events('--hosts-file', hosts, '--times', 1)
    hosts.write_text(b + '\n')
    events, _ = watch.events('--hosts-file', hosts, '--times', 1, '--keep', 10000)
    assert [e['target'] for e in events] == [b]
    assert [watch.state(i)['listed'] for i in (0, 1)] == [False, True]
    time.sleep(0.3)
    watch.events('--hosts-file', hosts, '--times', 1, '--keep', 2)
    assert watch.state(0)['target'] == b and all(b.replace(':', '_') in run for run in watch.runs())


def test_what_capturing_costs(watch, job):
    """Nine whole steps of 1.23 ms in each capture; between them 91 in 91 ms."""
    step, gap = 1_231_000, 90 * 1_000_000
    for i in range(3):
        job.brings(profile(i * 100, start_ns=scene.EPOCH_NS + i * (10 * step + gap)))
    events, _ = watch.events(job.target, '--times', 3)
    assert events[0]['cost'] is None
    for e in events[1:]:
        assert '1.23' in e['cost'] and '(91 steps): +22.' in e['cost'], e['cost']
    job.count, watch.out = 0, watch.out.with_name('text')
    first, *more = watch.run(job.target, '--times', 3).stdout.splitlines()
    assert '[' not in first and len(more) == 2
    assert all('[step time 1.23' in line and '(91 steps): +22.' in line and line.endswith(']') for line in more), more


def test_a_change_of_the_job_is_no_cost_of_capturing(watch, job):
    job.brings(profile(0)).brings(profile(100, 'mlp', start_ns=scene.EPOCH_NS + 100 * 1_300_000))
    events, _ = watch.events(job.target, '--times', 2, code=1)
    assert 'step time of the job itself changed' in events[1]['cost'], events[1]


def test_steps_that_begin_anew_tell_no_cost(watch, job):
    for _ in range(3):
        job.brings(profile(0))
    events, _ = watch.events(job.target, '--times', 3)
    assert [e['cost'] for e in events] == [None] * 3


@pytest.mark.parametrize('args, said', [
    ((), 'missing HOST:PORT or --hosts-file'),
    (('h:1', '--every', '10'), '--every 10: must be a time'),
    (('h:1', '--every', '1s', '--duration', '2s'), 'is longer than'),
    (('h:1', '--duration', '0s'), '--duration 0s'),
    (('h:1', '--max-regression', 'x'), '--max-regression x'),
    (('h:1', '--fail-on', 'x'), '--fail-on x'),
    (('h:1', '--fail-on-peak', 'x'), '--fail-on-peak x'),
    (('h:1', '--on-regression-arg', 'x'), '--on-regression-arg requires --on-regression'),
    (('nowhere',), '"nowhere" is not HOST:PORT'),
    (('http://h:1',), 'is not HOST:PORT'),
    (('me@h:1',), 'is not HOST:PORT'),
    (('h:1', '--out', 's3://'), 'the address has no bucket'),
    (('h:0',), '"h:0" is not HOST:PORT'),
    (('a b:1',), 'is not HOST:PORT'),
    (('--', '-x:1'), 'is not HOST:PORT')])
def test_what_makes_no_sense(watch, args, said):
    done = subprocess.run([watch.program, 'watch', *(() if '--out' in args else ('--out', watch.out)), *args],
                          capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count('\n') == 1, done.stderr
