"""The HTTP part of scripts/bench: the same files from us and from nginx in one run, alternated, as CPU time a request;
and the load table: many, slow and vanishing clients, and what they leave behind."""
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'http'))
OURS = ROOT / 'build' / 'release' / 'view_profile'
BIG = 256 << 20
NGINX = '''
daemon off;
worker_processes 2;
pid {prefix}/pid;
error_log stderr crit;
{user}
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 100000000;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    default_type application/octet-stream;
    server {{
        listen 127.0.0.1:{port};
        root {prefix}/root;
    }}
}}
'''


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        try:
            return socket.create_connection(('127.0.0.1', port)).close()
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f'nothing listens on port {port}')


def ticks(pids):
    """CPU seconds of processes, from the scheduler's own account, with the threads that have ended: the clock of
    clock_getcpuclockid(3), whose number the kernel makes of the process's."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e9


class Side:
    """A server: its port, and the processes that serve."""

    def __init__(self, process, port, pids):
        self.process, self.port, self.pids = process, port, pids

    def fetch(self, target):
        with socket.create_connection(('127.0.0.1', self.port)) as s:
            s.sendall(f'GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n'.encode())
            data = b''
            while chunk := s.recv(1 << 20):
                data += chunk
        return data.partition(b'\r\n\r\n')[2]


def start_ours(directory):
    port = free_port()
    process = subprocess.Popen([OURS, '--profile-dir', directory, '--port', str(port), '--no-browser', '--ui=none',
                                '--quiet'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    return Side(process, port, [process.pid])


def start_nginx(prefix, port):
    user = 'user root;' if os.getuid() == 0 else ''
    (prefix / 'nginx.conf').write_text(NGINX.format(prefix=prefix, port=port, user=user))
    process = subprocess.Popen([shutil.which('nginx') or '/usr/sbin/nginx', '-p', str(prefix), '-c',
                                str(prefix / 'nginx.conf')], stderr=subprocess.DEVNULL)
    wait_for(port)
    children = subprocess.run(['pgrep', '-P', str(process.pid)], capture_output=True, text=True).stdout.split()
    return Side(process, port, [int(c) for c in children])


def event(i):
    return b'{"ph":"X","pid":1,"tid":2,"ts":%d,"dur":7,"name":"fusion.%d"}' % (10 * i, i % 9)


def make_runs(directory):
    run = directory / 'plugins' / 'profile' / '2026_01_02_03_04_05'
    run.mkdir(parents=True)
    body = b'{"traceEvents":[' + b','.join(event(i) for i in range(8)) + b']}'
    (run / 'small.trace.json').write_bytes(body + b'\n' * (1024 - len(body)))
    with open(run / 'large.trace.json', 'wb') as f:
        f.write(body)
        left = BIG - len(body)
        while left:
            left -= f.write(b'\n' * min(left, 1 << 20))
    (run / 'made.trace.json').write_bytes(b'{"traceEvents":[' + b','.join(event(i) for i in range(200_000)) + b']}')


def mirror(ours, root, targets):
    """The bytes that we answer with, as files for nginx."""
    for target in targets:
        path = root / target.lstrip('/')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ours.fetch(target))


def requests(side, target, seconds):
    """CPU µs a request, and requests a second, of 32 connections."""
    before = ticks(side.pids)
    out = subprocess.run(['wrk', '-t1', '-c32', f'-d{seconds}s', f'http://127.0.0.1:{side.port}{target}'],
                         capture_output=True, text=True, check=True).stdout
    used = ticks(side.pids) - before
    if 'Non-2xx' in out or 'Socket errors' in out:
        raise SystemExit(out)
    count = int(re.search(r'(\d+) requests in', out).group(1))
    return used / count * 1e6, float(re.search(r'Requests/sec:\s+([\d.]+)', out).group(1))


def downloads(side, target, count):
    """CPU ms a gigabyte, and MB a second, of downloads one after the other."""
    url = f'http://127.0.0.1:{side.port}{target}'
    before, begin = ticks(side.pids), time.perf_counter()
    subprocess.run(['curl', '-sf', '-o', '/dev/null', *([url] + ['-o', '/dev/null', url] * (count - 1))], check=True)
    wall = time.perf_counter() - begin
    return (ticks(side.pids) - before) * 1e3 / (count * BIG / 1e9), count * BIG / 1e6 / wall


def compare(ours, nginx, session, args, results):
    rows = [('file of 1 KiB', f'/trace/{session}/raw/small.trace.json', 1.25),
            ('style sheet', '/static/app.css', 1.25),
            ('list as JSON', '/api/v1/sessions', 1.25),
            ('256 MiB', f'/trace/{session}/raw/large.trace.json', 1.05)]
    print('\n| | ours CPU | nginx CPU | ratio | at most | ours | nginx |\n|---|---|---|---|---|---|---|')
    for name, target, limit in rows:
        large = name == '256 MiB'
        samples = {ours: [], nginx: []}
        for _ in range(args.runs):
            for side in ours, nginx:
                samples[side].append(downloads(side, target, 4) if large else requests(side, target, 1 if args.quick else 3))
        (a, x), (b, y) = ([statistics.median(c) for c in zip(*samples[s])] for s in (ours, nginx))
        ratio = statistics.median(m[0] / n[0] for m, n in zip(samples[ours], samples[nginx]))
        units = ('ms/GB', 'MB/s') if large else ('µs', '/s')
        print(f'| {name} | {a:.1f} {units[0]} | {b:.1f} {units[0]} | {ratio:.2f} | {limit} | {x:,.0f} {units[1]} | {y:,.0f} {units[1]} |',
              flush=True)
        results[f'http: {name}'] = {'ours_cpu': round(a, 2), 'nginx_cpu': round(b, 2), 'ratio': round(ratio, 3)}


def with_load(side, session, args, results):
    import load
    pid, port = side.process.pid, side.port
    raw, made = f'/trace/{session}/raw', f'/trace/{session}/made.json'
    small, large = f'{raw}/small.trace.json', f'{raw}/large.trace.json'
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for target in [small, made, f'{made}.gz', '/', '/api/v1/sessions'] * 2:
        side.fetch(target)
    scale = 5 if args.quick else 1
    print('\n| load | seen meanwhile | descriptors | threads | resident MB |\n|---|---|---|---|---|')

    def row(name, burden):
        before = load.settled(pid)
        seen = burden()
        after, end = load.settled(pid), time.monotonic() + 8
        while after.threads > before.threads and time.monotonic() < end:
            after = load.settled(pid)
        print(f'| {name} | {seen} | {before.fds} → {after.fds} | {before.threads} → {after.threads} | '
              f'{before.rss / 1e6:.1f} → {after.rss / 1e6:.1f} |', flush=True)
        results[f'http load: {name}'] = {'fds': after.fds - before.fds, 'threads': after.threads - before.threads,
                                         'rss': round(after.rss / before.rss, 3), 'seen': seen}

    def many():
        out = subprocess.run(['wrk', '-t1', '-c256', '-d5s', '--latency', f'http://127.0.0.1:{port}{small}'],
                             capture_output=True, text=True, check=True).stdout
        return 'p99 ' + re.search(r'99%\s+(\S+)', out).group(1) + ', ' + re.search(r'Requests/sec:\s+(\S+)', out).group(1) + ' /s'

    def abort():
        load.abort_downloads(port, [large, made, f'{made}.gz'], 1000 // scale)
        return f'{1000 // scale} begun'

    def slow():
        p99, failures, longest, alive = load.slow_clients(port, small, large, 500 // scale, 500 // scale)
        return (f'normal client p99 {1000 * p99:.1f} ms, {len(failures)} failures; drippers gone after {longest:.1f} s; '
                f'{alive} readers still served')

    row('256 connections', many)
    row('aborted downloads', abort)
    row('slow readers and drippers', slow)
    row('256 connections again', many)


def bench_http(args, results):
    with tempfile.TemporaryDirectory(prefix='view_profile_bench_') as tmp:
        tmp = pathlib.Path(tmp)
        make_runs(tmp / 'runs')
        ours = start_ours(tmp / 'runs')
        nginx = None
        try:
            while (listed := json.loads(ours.fetch('/api/v1/sessions'))).get('indexing'):
                time.sleep(0.05)
            session = listed['sessions'][0]['id']
            raw = f'/trace/{session}/raw'
            (tmp / 'nginx' / 'root').mkdir(parents=True)
            mirror(ours, tmp / 'nginx' / 'root', [f'{raw}/small.trace.json', f'{raw}/large.trace.json', '/static/app.css',
                                                  '/api/v1/sessions'])
            nginx = start_nginx(tmp / 'nginx', free_port())
            compare(ours, nginx, session, args, results)
            with_load(ours, session, args, results)
        finally:
            for side in filter(None, (ours, nginx)):
                side.process.terminate()
                side.process.wait()
