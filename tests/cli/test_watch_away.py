"""`view_profile watch --out` at an address: runs and histories are written there, and old ones of its own are removed."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fetching  # noqa: E402
from emulated import is_emulated  # noqa: E402
from stores import environment, serving, shelf  # noqa: E402

pytest.importorskip('h2', reason='SKIP: scripts/requirements-test.txt is not installed: h2')
from test_stores_clouds import Bucket, s3  # noqa: E402
from test_watch import Job, Watch, job, jobs, profile, slow, steady  # noqa: E402, F401 (job and jobs are fixtures)

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason='SKIP: built without libcurl')
RUNS = '/logs/plugins/profile/'


class Away(Watch):
    """A watch whose runs go to an address; what it knows lies in a directory of its own."""

    def __init__(self, place, tmp_path, program):
        super().__init__(place, tmp_path, program)
        self.env = place.env | {'XDG_STATE_HOME': str(tmp_path / 'state')}

    @property
    def known(self):
        (only,) = (self.root / 'state' / 'view_profile' / 'watch').iterdir()
        return only

    def state(self, at=0):
        return json.loads((self.known / '.view_profile-watch.json').read_text())['targets'][at]

    def argv(self, *args):
        return [a if a != str(self.out) else self.url for a in super().argv(*args)]


@pytest.fixture
def there():
    with shelf() as s:
        s.dirs.add('/logs/')
        yield s


@pytest.fixture
def watch(place, tmp_path, program, there):
    w = Away(place, tmp_path, program)
    w.url = there.url + '/logs'
    return w


def runs(there):
    found = {p[len(RUNS):].split('/')[0] for p in there.files if p.startswith(RUNS)}
    return sorted(found, key=lambda run: [int(n) for n in re.findall(r'\d+', run)])


def forget(watch):
    shutil.rmtree(watch.root / 'state')
    time.sleep(1.1)  # names hold the second


def lines(there, name='history.jsonl'):
    return [json.loads(line) for line in there.files['/logs/' + name].splitlines()]


def test_runs_and_history_lie_there_and_nothing_here(watch, job, there):
    slow(steady(job, 2), 1, 2)
    events, said = watch.events(job.target, '--times', 3, code=1)
    assert said == '' and not [e for e in events if e['event'] != 'capture'], (events, there.log)
    assert [e['slower'] for e in events] == [False, False, True]
    assert runs(there) == [e['run'] for e in events]
    assert [line['session']['name'] for line in lines(there)] == runs(there)
    assert not list(watch.known.rglob('*.xplane.pb')) and not list(watch.known.rglob('*.plan'))
    assert (watch.known.stat().st_mode & 0o777) == 0o700
    here = watch.root / 'here'
    run = here / 'plugins' / 'profile' / runs(there)[2]
    run.mkdir(parents=True)
    name = job.target.replace(':', '_') + '.xplane.pb'
    (run / name).write_bytes(there.files[f'{RUNS}{run.name}/{name}'])
    both = [subprocess.run([watch.program, 'top', '--color', 'never', at], env=watch.env, capture_output=True, check=True).stdout
            for at in (run, watch.url)]
    assert both[0].splitlines()[1:] == both[1].splitlines()[1:] and b'mlp' in both[0]
    done = subprocess.run([watch.program, 'trend', watch.url + '/history.jsonl'], env=watch.env, capture_output=True, text=True)
    assert done.returncode == 0 and len(done.stdout.splitlines()) >= 3, done.stderr


def test_of_its_own_runs_the_newest_stay_and_all_of_others(watch, job, there):
    steady(job, 7)
    theirs = {RUNS + '2020_01_01_00_00_00/a.xplane.pb': b'a', '/logs/other/b': b'b'}
    there.files |= theirs
    there.dirs |= {'/logs/plugins/', RUNS, RUNS + '2020_01_01_00_00_00/', '/logs/other/'}
    events, _ = watch.events(job.target, '--times', 7, '--keep', 3)
    made = [e['run'] for e in events]
    assert runs(there) == ['2020_01_01_00_00_00', made[0], *made[-3:]]
    assert theirs.items() <= there.files.items()
    assert {p for p in there.dirs if p.startswith(RUNS)} == {RUNS} | {f'{RUNS}{r}/' for r in runs(there)}
    assert [r['run'] for r in watch.state()['runs']] == [made[0], *made[-3:]]
    removed = {p for what, p in there.log if what in ('DELETE', 'MOVE') and not p.startswith(RUNS + '.')}
    assert all(p[len(RUNS):].split('/')[0] in made[1:4] for p in removed) and len(removed) == 6


def test_what_took_the_place_of_a_file_is_not_removed(watch, job, there):
    steady(job, 3)
    first, _ = watch.events(job.target, '--times', 3, '--keep', 3)
    (mine,) = [p for p in there.files if f"/{first[1]['run']}/" in p]  # the second run of a second is RUN_2
    there.files[mine] = b'somebody else put this here'
    beside = mine.rsplit('/', 1)[0].replace(first[1]['run'], first[2]['run']) + '/notes.txt'
    there.files[beside] = b'notes'
    steady(job, 6, 3)
    done = watch.run(job.target, '--times', 6, '--keep', 1, '--format', 'json')
    assert done.returncode == 0 and 'it is kept' in done.stderr, done.stdout + done.stderr
    assert there.files[mine] == b'somebody else put this here' and there.files[beside] == b'notes'
    assert len([p for p in there.files if p.startswith(RUNS)]) == 4  # both, the baseline and the newest


def test_what_comes_while_a_run_is_removed_stays(watch, job, there):
    """A file that is replaced, and one that is put beside it, between the last look and the removal."""
    steady(job, 5)
    came = {}

    def before(r):
        path = r.path.split('?')[0]
        if r.command == 'DELETE' and path in there.files and not came:
            came[path] = there.files[path] = b'somebody else put this here'
        if r.command in ('DELETE', 'MOVE') and path in there.dirs and len(came) == 1:
            came[path + 'notes.txt'] = there.files[path + 'notes.txt'] = b'notes'
        return False

    there.before = before
    done = watch.run(job.target, '--times', 5, '--keep', 1, '--format', 'json')
    assert done.returncode == 0 and done.stderr.count('it is kept') == 1, done.stderr
    assert len(came) == 2 and came.items() <= there.files.items(), (came, list(there.files))
    assert not [p for p in there.dirs if '/.' in p]


def test_a_later_watch_goes_on_even_where_nothing_is_known(watch, job, there):
    steady(job, 6)
    first, _ = watch.events(job.target, '--times', 2)
    second, _ = watch.events(job.target, '--times', 2)
    assert second[0]['baseline_run'] == first[0]['run'] and len(lines(there)) == 4
    forget(watch)
    third, _ = watch.events(job.target, '--times', 1, '--keep', 1)
    assert third[0]['verdict'] == 'baseline' and len(runs(there)) == 5
    assert [line['session']['name'] for line in lines(there)] == runs(there)


def test_lines_that_others_add_stay(watch, job, there):
    steady(job, 3)
    watch.events(job.target, '--times', 1)
    there.files['/logs/history.jsonl'] += json.dumps({'session': {'name': 'theirs'}}).encode() + b'\n'
    events, _ = watch.events(job.target, '--times', 2)
    names = [line['session']['name'] for line in lines(there)]
    assert len(names) == 4 and names[1] == 'theirs' and names[2:] == [e['run'] for e in events]


def test_a_server_that_fails_is_said_and_made_up_for(watch, job, there):
    steady(job, 6)
    there.before = lambda r: (r.answer(507), True)[1] if r.command == 'PUT' and len(there.log) < 40 and job.count < 3 else False
    events, _ = watch.events(job.target, '--times', 4)
    states = [e for e in events if e['event'] == 'state']
    assert [e['state'] for e in states] == ['failed', 'ok']
    assert watch.url in states[0]['error'] and '507' in states[0]['error']
    assert len([e for e in events if e['event'] == 'capture']) == 4
    assert len(runs(there)) == 4 and len(lines(there)) == 4 and not list(watch.known.rglob('*.xplane.pb'))


def test_a_server_that_never_answers_fills_no_disk(watch, job, there):
    steady(job, 4)
    there.before = lambda r: (r.answer(403), True)[1]
    events, _ = watch.events(job.target, '--times', 4, '--keep', 1, code=6)
    assert 'permission denied' in events[1]['error']
    assert len(list(watch.known.rglob('*.xplane.pb'))) == 2  # the baseline and the newest


def test_a_signal_ends_a_delivery_and_the_next_watch_takes_it_up(watch, job, there):
    steady(job, 2)
    stuck, go_on = threading.Event(), threading.Event()
    there.before = lambda r: r.command == 'PUT' and not go_on.is_set() and (stuck.set(), go_on.wait(300), r.answer(503))[2] is None
    running = watch.start(job.target, '--every', '1h')
    assert stuck.wait(30)
    running.send_signal(signal.SIGTERM)
    assert running.wait(60) == 0  # the server would keep it for 300 s
    assert list(watch.known.rglob('*.xplane.pb')) and not there.files
    go_on.set()
    watch.events(job.target, '--times', 1)
    assert len(runs(there)) == len(lines(there)) == 2 and not list(watch.known.rglob('*.xplane.pb'))


def test_a_fleet_has_a_history_each(watch, jobs, there, tmp_path):
    hosts = tmp_path / 'hosts'
    targets = [steady(Job(jobs), 3).target for _ in range(4)]
    hosts.write_text(''.join(t + '\n' for t in targets))
    watch.events('--hosts-file', hosts, '--parallel', 3, '--times', 2)
    assert len(runs(there)) == 8
    for target in targets:
        assert len(lines(there, f"history-{target.replace(':', '_')}.jsonl")) == 2


def test_what_left_the_list_is_removed_there(watch, jobs, there, tmp_path):
    hosts = tmp_path / 'hosts'
    a, b = (steady(Job(jobs), 1).target for _ in 'ab')
    hosts.write_text(f'{a}\n{b}\n')
    watch.events('--hosts-file', hosts, '--times', 1)
    hosts.write_text(b + '\n')
    for _ in range(10):
        watch.events('--hosts-file', hosts, '--times', 2, '--keep', 2)
        if watch.state(0)['target'] == b:
            break
    assert watch.state(0)['target'] == b and all(b.replace(':', '_') in r for r in runs(there))


def test_a_baseline_there_may_be_named(watch, job, there):
    steady(slow(job, 1, 0), 3, 1)
    first, _ = watch.events(job.target, '--times', 1)
    forget(watch)
    events, _ = watch.events(job.target, '--times', 2, '--baseline', first[0]['run'])
    assert [e['verdict'] for e in events] == ['improvement'] * 2


def test_what_is_watched_there_stands_on_its_page(watch, job, there, place):
    from serving import Serving
    slow(steady(job, 2), 1, 2)
    events, _ = watch.events(job.target, '--times', 3, code=1)
    with Serving(place, '--port', '0', watch.url + '/', env=watch.env) as s:
        end = time.monotonic() + 60
        while events[-1]['run'] not in s.get('/')[2]:
            assert time.monotonic() < end
            time.sleep(0.1)
        page = s.get('/')[2]
    assert 'Watched programs' in page and job.target in page and 'slower' in page and 'class="spark"' in page


def test_one_watch_an_address(watch, job, there):
    steady(job, 1)
    running = watch.start(job.target, '--every', '1h')
    assert running.stdout.readline()
    done = watch.run(job.target)
    assert done.returncode == 5 and 'another view_profile watch' in done.stderr and watch.url in done.stderr
    running.terminate()
    assert running.wait(60) == 0


def test_a_password_is_sent_and_not_told(watch, job, there):
    steady(slow(job, 1, 0), 3, 1)
    asked = []
    there.before = lambda r: (asked.append(r.headers.get('Authorization')), False)[1]
    plain, watch.url = watch.url, watch.url.replace('://', '://bob:s3cret@')
    done = watch.run(job.target, '--times', 3, '--keep', 1, '--format', 'json')
    assert done.returncode == 0 and len(runs(there)) == 2 and set(asked) == {'Basic Ym9iOnMzY3JldA=='}
    there.before = lambda r: (r.answer(403), True)[1]
    more = watch.run(job.target, '--times', 1)
    assert plain in more.stderr
    said = [done.stdout, done.stderr, more.stdout, more.stderr]
    said += [p.read_bytes().decode(errors='replace') for p in watch.known.rglob('*') if p.is_file()]
    assert not [text for text in said if 's3cret' in text]


COMMAND = 6 if is_emulated() else 1  # after qemu, -L, its root, -0, the name


class Lines:
    """Command lines that processes have had since: `seen`, the commands; `found`, those with all of the words."""

    def __init__(self, *words):
        self.words, self.seen, self.found, self.ended = words, set(), set(), threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ended.wait(0.005):
            for p in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
                try:
                    line = p.read_bytes()
                except OSError:
                    continue
                if b'view_profile' in line:
                    self.seen.add(b''.join(line.split(b'\0')[COMMAND:COMMAND + 1]))
                    if all(word in line for word in self.words):
                        self.found.add(line)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@pytest.mark.parametrize('named', ['', '/plugins/profile/'])
@pytest.mark.parametrize('form', ['password', 'query'])
def test_no_child_has_a_secret_in_its_command_line(watch, job, there, form, named):
    """Nor is one in what it says, writes, or hands to --on-regression."""
    steady(slow(job, 1, 0), 3, 1)
    first, _ = watch.events(job.target, '--times', 1, '--keep', 1)
    forget(watch)
    before = []
    secret = (lambda r: r.headers.get('Authorization') == 'Basic Ym9iOnMzY3JldA==') if form == 'password' else \
        (lambda r: r.path.endswith('?sig=s3cret'))
    there.before = lambda r: (not secret(r)) and (before.append(r.path), r.answer(403), True)[2]
    plain = watch.url
    whole = (lambda url: url.replace('://', '://bob:s3cret@')) if form == 'password' else (lambda url: url + '?sig=s3cret')
    watch.url = whole(plain)
    baseline = whole(plain + named + first[0]['run']) if named else first[0]['run']
    with Lines(b's3cret', plain.split('//')[1].encode()) as lines:
        done = watch.run(job.target, '--times', 2, '--baseline', baseline, '--format', 'json')
    assert done.returncode == 0, done.stderr
    assert before == [] and done.stdout.count('"verdict":"improvement"') == 2
    own = {line for line in lines.found if b'\0watch\0' in line and b'\0--times\0' in line}
    assert {b'capture', b'compare'} <= lines.seen and lines.found == own
    said = [done.stdout, done.stderr] + [p.read_bytes().decode(errors='replace') for p in watch.known.rglob('*') if p.is_file()]
    assert not [text for text in said if 's3cret' in text]


def test_what_is_no_address(watch, job):
    watch.url = 'http://'
    done = watch.run(job.target, '--times', 1)
    assert done.returncode == 2 and 'the address has no host' in done.stderr and done.stderr.count('\n') == 1


def test_a_public_baseline_needs_no_credentials(watch, job, jobs):
    steady(job, 1)
    public = Bucket({'base/plugins/profile/r0/h.xplane.pb': profile(0, seed=7)}, page=1000)
    watch.env = environment(AWS_ENDPOINT_URL=jobs.enter_context(serving(s3(public, signed=False)))) | watch.env
    events, said = watch.events(job.target, '--times', 1, '--baseline', 's3://bkt/base/plugins/profile/r0', '--no-sign-request')
    assert [e['verdict'] for e in events] == ['noise'] and said == ''
    assert public.asked and not any('Authorization' in headers for *_, headers in public.asked)
