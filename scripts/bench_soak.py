"""The soak of scripts/bench: an hour (--minutes) of mixed load on one server while its directory changes. After a
warm-up of a twelfth of the time the program may grow by no descriptor and no megabyte, and never answers 5xx."""
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

from bench_http import ROOT, start_ours, event

TRACES = pathlib.Path(os.environ.get('VP_TRACES', ROOT.parent / 'shared' / 'traces'))
LARGEST = 4 << 20  # of the real files that are laid in the directory
GROWTH_MAX = 1 << 20


def lay_runs(root):
    """Made runs, real files of every reader, and archives."""
    for i in range(200):
        add_run(root, f'made/plugins/profile/2026_01_02_{i // 60:02}_{i % 60:02}_00', 50 + i)
    for kind in ('jax_cpu', 'jax_tpu', 'xla_gpu_cuda', 'pytorch_rocm', 'pytorch_synthetic', 'archives_made', 'chrome_odd'):
        for path in sorted((TRACES / kind).rglob('*')) if TRACES.is_dir() else []:
            if path.is_file() and path.stat().st_size <= LARGEST:
                to = root / 'real' / path.relative_to(TRACES)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)


def add_run(root, name, events):
    run = root / name
    run.mkdir(parents=True)
    (run / 'host.trace.json').write_bytes(b'{"traceEvents":[' + b','.join(event(i) for i in range(events)) + b']}')


class Load:
    """What all clients share: the server, the list of sessions, and what was answered."""

    def __init__(self, load, side, root):
        self.load, self.side, self.port, self.root = load, side, side.port, root
        self.paused, self.over = threading.Event(), threading.Event()
        self.lock, self.answers, self.bad, self.busy = threading.Lock(), {}, [], 0
        self.sessions = json.loads(side.fetch('/api/v1/sessions'))['sessions']
        self.first = self.sessions[-60:]

    def count(self, status, target):
        with self.lock:
            self.answers[status] = self.answers.get(status, 0) + 1
            if status >= 500 or status == 0:
                self.bad.append((status, target))

    def clients(self):
        kinds = [self.reader] * 4 + [self.keeper, self.aborter, self.rescanner, self.changer, self.slow, self.rude]
        return [threading.Thread(target=self.run, args=(kind, random.Random(i)), daemon=True) for i, kind in enumerate(kinds)]

    def run(self, kind, rng):
        while not self.over.is_set():
            if self.paused.is_set():
                time.sleep(0.05)
                continue
            with self.lock:
                self.busy += 1
            try:
                kind(rng)
            except OSError as e:
                self.count(0, f'{kind.__name__}: {e!r}')
            finally:
                with self.lock:
                    self.busy -= 1

    def ask(self, target, *fields, method='GET', body=b''):
        with self.load.connect(self.port) as s:
            s.settimeout(60)
            head = [f'{method} {target} HTTP/1.1', f'Host: 127.0.0.1:{self.port}', 'Connection: close', *fields]
            if method == 'POST':
                head += [f'Content-Length: {len(body)}', 'Content-Type: application/json', f'Origin: http://127.0.0.1:{self.port}']
            s.sendall('\r\n'.join(head + ['', '']).encode() + body)
            first = s.recv(1 << 16)
            data = first
            while data:
                data = s.recv(1 << 16)
        status = int(first[9:12]) if first.startswith(b'HTTP/1.1 ') else 0
        self.count(status, target)

    def target(self, rng):
        session = rng.choice(self.sessions)
        other, ident = rng.choice(self.sessions)['id'], session['id']
        host = (session['hosts'] or ['host'])[0]
        name = session['files'][0]['path'].rsplit('/', 1)[-1] if session['files'] else 'host.trace.json'
        return rng.choice([
            '/', '/?q=2026_01', '/?sort=size', f'/session/{ident}/', f'/session/{ident}/?tab=ops&by=total', f'/session/{ident}/?tab=files',
            f'/session/{ident}/ops.csv', f'/session/{ident}/headline', f'/session/{ident}/op?name=fusion.3',
            f'/api/v1/session/{ident}/report', f'/api/v1/session/{ident}/findings', f'/api/v1/session/{ident}/ops?n=5',
            f'/compare/{ident}/{other}', f'/api/v1/compare/{ident}/{other}', f'/perfetto/{ident}', f'/trace/{ident}/{host}.json',
            f'/trace/{ident}/{host}.json.gz', f'/trace/{ident}/raw/{name}', '/api/v1/sessions', '/api/v1/state', '/healthz', '/readyz',
            '/metrics', '/static/app.css', '/static/app.js', '/nothing', '/session/none/', f'/trace/{ident}/raw/none'])

    def reader(self, rng):
        self.ask(self.target(rng), *rng.choice([[], ['Accept-Encoding: gzip'], ['Range: bytes=10-99'], ['If-None-Match: "x"']]))
        time.sleep(0.01)

    def keeper(self, rng):
        """Twenty requests on one connection."""
        with self.load.connect(self.port) as s:
            for _ in range(20):
                s.sendall(self.load.ask(self.port, rng.choice(['/healthz', '/static/app.css', '/metrics'])))
                head, _, body = s.recv(1 << 16).partition(b'\r\n\r\n')
                self.count(int(head[9:12] or 0), 'keep-alive')
                left = int(head.lower().split(b'content-length: ')[1].split(b'\r')[0]) - len(body)
                while left > 0:
                    left -= len(s.recv(left)) or left
        time.sleep(0.05)

    def aborter(self, rng):
        ident = rng.choice(self.sessions)['id']
        self.load.abort_downloads(self.port, [f'/session/{ident}/', f'/api/v1/session/{ident}/report', '/'], 3)
        time.sleep(0.1)

    def rescanner(self, rng):
        self.ask('/api/v1/rescan', method='POST', body=b'{}')
        time.sleep(rng.uniform(1, 4))

    def changer(self, rng):
        """A run appears, is looked at like the others, and goes while it is."""
        name = f'made/plugins/profile/2027_01_01_00_00_{rng.randrange(60):02}'
        add_run(self.root, name, 5000)
        self.ask('/api/v1/rescan', method='POST', body=b'{}')
        listed = json.loads(self.side.fetch('/api/v1/sessions'))['sessions']
        new = [s for s in listed if '2027_01_01' in s['id']] * 40
        self.sessions = self.sessions + new
        time.sleep(rng.uniform(0.5, 3))
        shutil.rmtree(self.root / name)
        time.sleep(rng.uniform(0.5, 3))
        self.sessions = [s for s in self.sessions if s not in new]

    def slow(self, rng):
        ident = rng.choice(self.sessions)['id']
        readers = self.load.SlowReaders(self.port, f'/api/v1/session/{ident}/report', 5)
        for _ in range(10):
            readers.read_a_little()
            time.sleep(0.2)
        readers.close()

    def rude(self, rng):
        with self.load.connect(self.port) as s:
            s.settimeout(15)  # half a head is given 10 s
            s.sendall(rng.choice([b'GET / HTTP/1.1\r\n\r\n', b'\x16\x03\x01\x02\x00', b'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n', b'A' * 50000,
                                  b'GET / HTTP/9.9\r\nHost: a\r\n\r\n', b'POST /api/v1/rescan HTTP/1.1\r\nHost: evil\r\n\r\n']))
            s.recv(1 << 16)
        time.sleep(0.2)


def quiet_figures(work, side):
    """What the program holds when nobody asks it anything."""
    work.paused.set()
    end = time.monotonic() + 90
    while work.busy and time.monotonic() < end:
        time.sleep(0.1)
    for session in work.first:  # more than are kept: the same reports are in memory each time
        work.ask(f'/api/v1/session/{session["id"]}/report')
    before = work.load.settled(side.process.pid)
    time.sleep(12)  # idle workers and watchers leave, memory is given back
    now = work.load.settled(side.process.pid)
    now.fds = min(now.fds, before.fds)
    work.paused.clear()
    return now


def watch(work, side, seconds):
    begin, shown = time.monotonic(), 0
    while (gone := time.monotonic() - begin) < seconds and side.process.poll() is None:
        time.sleep(min(1, seconds - gone))
        if gone - shown >= max(60, seconds / 12):
            shown = gone
            now = work.load.Figures(side.process.pid)
            print(f'{gone / 60:5.0f} min: {sum(work.answers.values()):,} answers, {len(work.bad)} bad, {now.rss / 1e6:.1f} MB, '
                  f'{now.fds} descriptors, {now.threads} threads, {now.cpu:.0f} s CPU', file=sys.stderr, flush=True)


def bench_soak(args, results):
    import load
    with tempfile.TemporaryDirectory(prefix='view_profile_soak_') as tmp:
        root = pathlib.Path(tmp) / 'runs'
        lay_runs(root)
        side = start_ours(root)
        try:
            while json.loads(side.fetch('/api/v1/sessions')).get('indexing'):
                time.sleep(0.05)
            work = Load(load, side, root)
            for client in work.clients():
                client.start()
            watch(work, side, args.minutes * 5)
            warm = quiet_figures(work, side)
            watch(work, side, args.minutes * 55)
            end = quiet_figures(work, side)
        finally:
            work.over.set()
            side.process.send_signal(signal.SIGTERM)
            side.process.wait()
    grown = end.rss - warm.rss
    print(f'\n| soak, {args.minutes} min | after the warm-up | at the end |\n|---|---|---|\n'
          f'| resident MB | {warm.rss / 1e6:.2f} | {end.rss / 1e6:.2f} ({grown / 1e6:+.2f}, at most {GROWTH_MAX / 1e6:+.2f}) |\n'
          f'| descriptors | {warm.fds} | {end.fds} |\n| threads | {warm.threads} | {end.threads} |\n'
          f'| answers | | {", ".join(f"{n:,} × {s}" for s, n in sorted(work.answers.items()))} |')
    for status, target in work.bad[:10]:
        print(f'bad: {status} {target}')
    results['soak'] = {'minutes': args.minutes, 'rss_growth': grown, 'fds': end.fds - warm.fds, 'threads': end.threads - warm.threads,
                       'answers': work.answers, 'bad': len(work.bad)}
    if grown > GROWTH_MAX or end.fds > warm.fds or work.bad:
        raise SystemExit('the soak failed')
