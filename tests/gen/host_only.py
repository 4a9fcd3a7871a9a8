"""Programs without a device: threads and their zones, one cause planted in each; and the same programs
with nothing to repair, some of them just below a rule's limit. Written as XSpace by xspace.py, as Trace
Event JSON by `chrome`."""
import json
from contextlib import contextmanager
from dataclasses import dataclass, field

from .scene import MS, US, Event, Scene


@dataclass
class Found:
    rule: str
    scene: Scene
    severity: str
    impact: tuple  # least and most, ps; None: the rule has no impact in time
    says: tuple  # words of the message
    inside: tuple = ()  # of the first place: [start, end]


class Worker:
    """A thread that does one thing after the other."""

    def __init__(self, scene, name, at=0):
        self.scene, self.thread, self.t = scene, scene.host.thread(name), at

    def work(self, name, dur, **stats):
        self.thread.events.append(Event(name, self.t, dur, stats))
        self.t += dur
        return self.thread.events[-1]

    @contextmanager
    def zone(self, name, **stats):
        e = Event(name, self.t, 0, stats)
        self.thread.events.append(e)
        yield e
        e.dur = self.t - e.start

    def step(self, n):
        return self.zone('frame', step_num=n, _r=1)


PARTS = ['input', 'physics', 'cull', 'animate', 'draw']


def frames(main, count, extra=lambda main, n: None, dur=200 * US, noise=2):
    """Frames of five equal parts: 1 ms, none of them hot."""
    for n in range(count):
        with main.step(n):
            for name in PARTS:
                main.work(name, main.scene.noise(dur, noise))
            extra(main, n)
    return main.scene


def window(scene):
    events = [e for t in scene.host.threads for e in t.events]
    return max(e.end for e in events) - min(e.start for e in events)


def median(values):
    return sorted(values)[(len(values) + 1) // 2 - 1]


# ---- a slow step's cause ----


def slow(count, extra, dur, name='checkpoint', at=0.6):
    main = Worker(Scene(21), 'main')
    where = {}

    def add(main, n):
        if n == int(count * at):
            where['e'] = extra(main)

    frames(main, count, add, dur)
    steps = [e.dur for e in main.thread.events if e.name == 'frame']
    more = max(steps) - median(steps)
    return main.scene, more, where['e']


def checkpoint(count=400, ms=30, dur=200 * US):
    """30 ms in one step of 400 of 1 ms: 7 % of the window."""
    scene, more, e = slow(count, lambda m: m.work('write_checkpoint', ms * MS), dur)
    share = more / window(scene)
    level = 'high' if share >= .1 else 'medium' if share >= .03 else 'low'
    return Found('F28', scene, level, (more, more), ('write_checkpoint', f'step {int(count * .6)}'),
                 (e.start, e.end))


def rare_checkpoint():
    """30 ms in one step of 4,000 of 3 ms: a four-hundredth of the window, but no noise."""
    return checkpoint(4000, 30, 600 * US)


def slow_worker():
    """The step waits for a thread that in one step takes 40 ms instead of 1 ms."""
    main, other = Worker(Scene(22), 'main'), Worker(Scene(22), 'loader')
    main.scene.host.threads.append(other.thread)

    def add(main, n):
        other.t = main.t
        e = other.work('decode', 40 * MS if n == 250 else main.scene.noise(20 * US, 2))
        with main.zone('wait_for_loader'):
            main.t = other.t
        if n == 250:
            main.slowest = e

    frames(main, 400, add)
    steps = [e.dur for e in main.thread.events if e.name == 'frame']
    more = max(steps) - median(steps)
    return Found('F28', main.scene, 'medium', None, ('decode', 'loader'),
                 (main.slowest.start, main.slowest.end))


# ---- waits and locks ----


def lock_wait():
    """Four threads that all need one mutex: 30 % of each one's time."""
    scene = Scene(23)
    for i in range(4):
        w = Worker(scene, f'worker-{i}', i * 10 * US)
        for n in range(200):
            for name in ('parse', 'index', 'merge', 'store'):
                w.work(name, scene.noise(175 * US, 3))
            w.work('pthread_mutex_lock', 300 * US)
    lost = 200 * 300 * US
    return Found('F25', scene, 'high', (lost, lost), ('pthread_mutex_lock', '200 calls'))


def lock_by_category():
    """The same by the zone's category: its name says what is locked."""
    found = lock_wait()
    for t in found.scene.host.threads:
        for e in t.events:
            if e.name == 'pthread_mutex_lock':
                e.name, e.category = 'SharedIndex', 'lock'
    found.says = ('SharedIndex', '200 calls')
    return found


def step_sleeps():
    """A step that sleeps 0.2 of 1.2 ms."""
    main = Worker(Scene(24), 'main')
    frames(main, 200, lambda m, n: m.work('usleep', 200 * US))
    return Found('F25', main.scene, 'high', (200 * 200 * US,) * 2, ('usleep', 'main', 'steps'))


def batch_sleeps():
    """Without steps: a thread that sleeps between its pieces of work."""
    main = Worker(Scene(29), 'main')
    for n in range(100):
        for name in PARTS:
            main.work(name, main.scene.noise(200 * US, 2))
        main.work('Thread.sleep', 100 * US)
    return Found('F25', main.scene, 'medium', (100 * 100 * US,) * 2, ('Thread.sleep', '100 calls'))


def waits_for_one():
    """A step that waits while one other thread works is not parallel."""
    main, other = Worker(Scene(25), 'main'), Worker(Scene(25), 'codec')
    main.scene.host.threads.append(other.thread)

    def add(main, n):
        other.t = main.t
        other.work('compress', 300 * US)
        with main.zone('future.wait'):
            main.t = other.t

    frames(main, 200, add)
    return Found('F25', main.scene, 'high', (200 * 300 * US,) * 2, ('future.wait', 'main'))


# ---- imbalance ----


def pool(scene, work, name='render', threads=8, rest=150 * US):
    """Threads that render for as long as `work` says of each, every frame, and wait for the slowest."""
    workers = [Worker(scene, f'worker-{i}') for i in range(threads)]
    for n in range(100):
        begin = max(w.t for w in workers)
        for i, w in enumerate(workers):
            w.t = begin
            w.work(name, scene.noise(work[i], 1))
            for other in ('upload', 'sort', 'clip'):
                w.work(other, scene.noise(rest, 1))
        end = max(w.t for w in workers)
        for w in workers:
            w.work('barrier', end - w.t)
    return scene, workers


def works(workers):
    return [sum(e.dur for e in w.thread.events if e.name != 'barrier') for w in workers]


def imbalance():
    """One of eight has 1.5 times the work."""
    scene, workers = pool(Scene(26), [1500 * US if i == 3 else 1000 * US for i in range(8)])
    work = works(workers)
    lost = max(work) - sum(work) // 8
    return Found('F26', scene, 'high', (lost, lost), ('worker-3', 'render', '8 threads'))


# ---- hot zone, variance ----


def hot_zone(threads=64):
    """On 64 threads half of the work is one zone."""
    scene = Scene(27)
    for i in range(threads):
        w = Worker(scene, f'worker-{i}')
        for n in range(20):
            with w.zone('task'):
                w.work('collide', 500 * US)
                for name in PARTS:
                    w.work(name, 100 * US)
    return Found('F27', scene, 'low', None, ('collide takes 50.00%', '1,280 calls', '64 threads'))


def variance():
    """A tenth of the calls of one zone take thirty times as long as the others."""
    main = Worker(Scene(28), 'main')
    for n in range(600):
        for name in PARTS:
            main.work(name, main.scene.noise(150 * US, 2))
        main.work('lookup', 30 * (20 * US) if n % 10 == 7 else 20 * US)
    lost = 60 * 29 * 20 * US
    return Found('F29', main.scene, 'low', (lost, lost), ('lookup', '600 calls'))


CASES = {f.__name__: f for f in (checkpoint, rare_checkpoint, slow_worker, lock_wait, lock_by_category, step_sleeps, batch_sleeps,
                                 waits_for_one, imbalance, hot_zone, variance)}


# ---- nothing to find, and nearly something ----


def clean_frames():
    return frames(Worker(Scene(31), 'main'), 200)


def clean_pool():
    """Equal shares; the threads wait for each other at a barrier, but not for long."""
    return pool(Scene(32), [1000 * US] * 8)[0]


def clean_fork_join():
    """The step waits while eight threads share its work out."""
    scene = Scene(33)
    main, workers = Worker(scene, 'main'), [Worker(scene, f'worker-{i}') for i in range(8)]
    for n in range(100):
        with main.step(n):
            for name in PARTS:
                main.work(name, scene.noise(100 * US, 2))
            for w in workers:
                w.work('wait_for_task', main.t - w.t)
                for name in PARTS:
                    w.work(f'tile_{name}', 200 * US)
            with main.zone('join_workers'):
                main.t = workers[0].t
    return scene


def clean_server():
    """Threads that wait for requests, most of the time."""
    scene = Scene(34)
    for i in range(4):
        w = Worker(scene, f'http-{i}')
        for n in range(50):
            w.work('epoll_wait', scene.noise(9 * MS, 40)) if i else w.t
            with w.zone('request'):
                for name in ('parse', 'route', 'query', 'render', 'send'):
                    w.work(name, scene.noise(150 * US, 10))
    return scene


def nearly_slow():
    """One step of 100 takes 1.9 times the median, and steps differ by a tenth."""
    main = Worker(Scene(35), 'main')
    return frames(main, 100, lambda m, n: n == 60 and m.work('flush', 800 * US), noise=40)


def nearly_waiting():
    """4 % of the window in usleep."""
    return frames(Worker(Scene(36), 'main'), 200, lambda m, n: m.work('usleep', 40 * US))


def nearly_uneven():
    """The busiest exceeds the mean by 8 %."""
    return pool(Scene(37), [1130 * US if i == 3 else 1000 * US for i in range(8)])[0]


def uneven_but_idle():
    """One thread has twice the work of the others, but for a third of the time: nobody waits for it."""
    scene = Scene(38)
    main = Worker(scene, 'main')
    frames(main, 300, noise=2)
    for i in range(4):
        w = Worker(scene, f'cache-{i}')
        for n in range(20):
            for name in ('evict', 'load', 'touch'):
                w.work(name, (900 if i == 2 else 450) * US // (1 if name == 'load' else 3))
            w.work('cond_wait', 10 * MS)
    return scene


def uneven_but_few():
    """Two of seven threads are uneven: a sixth of all work."""
    scene = Scene(41)
    for i in range(5):
        w = Worker(scene, f'front-{i}')
        for n in range(40):
            for name in PARTS:
                w.work(f'{name}-{i}', 200 * US)
    for i, part in enumerate((250, 25)):
        w = Worker(scene, f'back-{i}')
        for n in range(40):
            for name in PARTS:
                w.work('pack' if name == 'draw' else f'pack_{name}', part * US // 2 * (4 if name == 'draw' else 1))
    return scene


def nearly_hot():
    """29 % of the work, and names that only look like waiting."""
    main = Worker(Scene(39), 'main')
    for n in range(100):
        main.work('unlock_and_join_strings', 290 * US)
        for name in ('str.join', 'clock', 'block_decode', 'posixpath.join'):
            main.work(name, 177 * US)
    return main.scene


def nearly_varying():
    """Half of the calls twice as long as the others, and a recursion, whose calls differ by their depth."""
    main = Worker(Scene(40), 'main')
    for n in range(300):
        for name in PARTS:
            main.work(name, main.scene.noise(200 * US, 3) * (1 + n % 2))
        with main.zone('walk'):
            with main.zone('walk'):
                for _ in range(12):
                    main.work('walk', 5 * US)
    return main.scene


CLEAN = {f.__name__: f for f in (clean_frames, clean_pool, clean_fork_join, clean_server, nearly_slow, nearly_waiting,
                                 nearly_uneven, uneven_but_idle, uneven_but_few, nearly_hot, nearly_varying)}


def chrome(scene):
    """As Trace Event JSON: without steps, since that format has none."""
    out = []
    for t in scene.host.threads:
        out.append({'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': t.id, 'args': {'name': t.name}})
        out += [{'ph': 'X', 'pid': 1, 'tid': t.id, 'name': e.name, 'ts': e.start / US, 'dur': e.dur / US}
                | ({'cat': e.category} if e.category else {}) for e in t.events]
    return json.dumps({'traceEvents': out}).encode()
