"""Beside scripts/bench's "timeline": what xprof-rs's trace_viewer@ takes on the same file, cold (a new server over
a directory without its caches), again, and for new windows of 100 ms."""
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

WINDOWS = 30
WINDOW_MS = 100


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def start(rust, logdir):
    port = free_port()
    child = subprocess.Popen([rust, '--logdir', logdir, '--port', str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    base = f'http://127.0.0.1:{port}/data/plugin/profile'
    while True:
        try:
            get(f'{base}/runs')
            return child, base
        except (urllib.error.URLError, ConnectionError):
            time.sleep(.005)


def peak_mib(child):
    status = pathlib.Path(f'/proc/{child.pid}/status').read_text()
    return int(status.split('VmHWM:')[1].split()[0]) / 1024


def timed(url):
    since = time.perf_counter()
    body = get(url)
    return time.perf_counter() - since, body


def one_server(rust, path):
    """Seconds cold and again, of each new window, and MiB at the peak."""
    with tempfile.TemporaryDirectory() as logdir:
        run = pathlib.Path(logdir) / 'plugins/profile/run'
        run.mkdir(parents=True)
        os.symlink(path.resolve(), run / 'vm.xplane.pb')
        child, base = start(rust, logdir)
        try:
            url = f'{base}/data?run=run&host=vm&tag=trace_viewer@&resolution=8000'
            cold, body = timed(url)
            again, _ = timed(url)
            events = [e for e in json.loads(body)['traceEvents'] if 'ts' in e]
            first, last = min(e['ts'] for e in events), max(e['ts'] + e.get('dur', 0) for e in events)
            dice, took = random.Random(1), []
            for _ in range(WINDOWS):
                at = (first + dice.random() * max(0, last - first)) / 1000
                took.append(timed(f'{url}&start_time_ms={at}&end_time_ms={at + WINDOW_MS}')[0])
            return cold, again, took, peak_mib(child)
        finally:
            child.terminate()
            child.wait()


def bench_timeline_peer(rust, path, runs, results):
    try:
        samples = [one_server(rust, path) for _ in range(runs)]
    except urllib.error.HTTPError as e:
        print(f'xprof-rs trace_viewer@ of {path.name}: {e.code} {e.read(200).decode(errors="replace")}')
        return
    took = sorted(t for s in samples for t in s[2])
    row = {'cold_s': round(statistics.median(s[0] for s in samples), 3), 'again_s': round(statistics.median(s[1] for s in samples), 4),
           'window_p50_ms': round(took[len(took) // 2] * 1e3, 2), 'window_p99_ms': round(took[len(took) * 99 // 100] * 1e3, 2),
           'peak_mib': round(statistics.median(s[3] for s in samples))}
    print(f'xprof-rs trace_viewer@ of {path.name}: ' + ', '.join(f'{k} {v}' for k, v in row.items()))
    results[f'timeline {path.name}, xprof-rs'] = row
