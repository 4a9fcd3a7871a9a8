"""The section "remote" of scripts/bench: a profile that comes over HTTP/2 from this machine, beside curl taking the same bytes
into the same place (memory, so that no disk is measured); what view_profile-fetch takes of memory meanwhile; `top` of an xplane
over HTTP beside curl and `top` of the same file here; and the list of a bucket of 10,000 runs beside curl asking for the same pages."""
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from bench_compare import note, quarters

BENCH = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'bench'
STREAM, PAGES, RANGES = BENCH / 'profile_stream.py', BENCH / 's3_pages.py', BENCH / 'range_server.py'
RUNS, PAGE_MS = 10_000, 50  # the cloud's own takes longer for a page of 1,000
SIZES = (300, 3000)  # MB
PEAK_KIB = 4096  # that the peak of a larger capture may be above that of a smaller one


def peak_kib(pid):
    try:
        with open(f'/proc/{pid}/status') as f:
            return next((int(line.split()[1]) for line in f if line.startswith('VmHWM')), 0)
    except OSError:
        return 0


def fetchers(parent):
    """Processes of that name that `parent` started."""
    done = subprocess.run(['pgrep', '-P', str(parent), '-x', 'view_profile-fe'], capture_output=True, text=True)
    return [int(pid) for pid in done.stdout.split()]


def watched(argv):
    """Seconds, and the most KiB that its fetcher had."""
    begun = time.monotonic()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    most = 0

    def look():
        nonlocal most
        while child.poll() is None:
            most = max([most, *map(peak_kib, fetchers(child.pid))])
            time.sleep(0.02)

    watcher = threading.Thread(target=look)
    if argv[0] != 'curl':
        watcher.start()
    code = child.wait()
    took = time.monotonic() - begun
    if argv[0] != 'curl':
        watcher.join()
    if code:
        raise RuntimeError(f'{argv[0]} ended with {code}')
    return took, most


def bench_listing(ours, args, results):
    server = subprocess.Popen([sys.executable, PAGES, str(RUNS), str(PAGE_MS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    base = f'http://127.0.0.1:{server.stdout.readline().strip()}'
    pages = [f'{base}/b?delimiter=%2F&prefix=logs%2F', f'{base}/b?delimiter=%2F&prefix=logs%2Fplugins%2F',
             *(f'{base}/b?continuation-token={at}&prefix=logs%2Fplugins%2Fprofile%2F' for at in range(0, RUNS, 1000))]
    curl = ['curl', '-s', '-f', *(x for page in pages for x in (page, '-o', '/dev/null'))]
    times = {'curl': [], 'first': [], 'again': []}
    with tempfile.TemporaryDirectory() as temp:
        env = os.environ | {'AWS_ENDPOINT_URL': base, 'AWS_ACCESS_KEY_ID': 'a', 'AWS_SECRET_ACCESS_KEY': 'b', 'XDG_CACHE_HOME': temp}
        for _ in range(args.runs):
            for name, argv in (('curl', curl), ('first', [str(ours), 'list', 's3://b/logs']), ('again', [str(ours), 'list', 's3://b/logs'])):
                begun = time.monotonic()
                subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
                times[name].append(time.monotonic() - begun)
            shutil.rmtree(f'{temp}/view_profile')
    server.communicate('')
    of = {name: quarters([a / b for a, b in zip(times[name], times['curl'])]) for name in ('first', 'again')}
    print(f'\nlist of {RUNS} runs in a bucket, {PAGE_MS} ms a page: {args.runs} in turn\n  curl {statistics.median(times["curl"]):.3f} s; '
          + '; '.join(f'{name} {statistics.median(times[name]):.3f} s: {r:.3f} ({low:.2f}–{high:.2f})' for name, (r, low, high) in of.items()))
    results['list of a bucket'] = {f'{name}_s': statistics.median(t) for name, t in times.items()} | {
        f'{name}_of_curl': round(r, 4) for name, (r, _, _) in of.items()}
    if of['first'][0] > 1.2:
        note('the list of a bucket takes more than 1.2 of its requests')


def taken(argv, env):
    """Seconds, and the most MiB that it held."""
    begun = time.monotonic()
    child = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f'{argv[0]} ended with {child.returncode}')
    return time.monotonic() - begun, used.ru_maxrss / 1024


@contextlib.contextmanager
def served(file, ms):
    """Its address, and at the end [bytes asked for, those of them for the third time or more]."""
    counted = []
    with subprocess.Popen([sys.executable, RANGES, file, str(ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        yield f'http://127.0.0.1:{server.stdout.readline().strip()}/it.xplane.pb', counted
        counted += [int(n) for n in server.communicate('')[0].split()]


def bench_top(ours, file, ms, most, args, results):
    """An xplane that lies elsewhere: `top` of it beside curl's time for the same bytes and what `top` takes of it here."""
    times, held = {'curl': [], 'here': [], 'there': []}, {}
    for _ in range(args.runs):
        with tempfile.TemporaryDirectory() as temp:
            env = os.environ | {'XDG_CACHE_HOME': temp}
            with served(file, ms) as (url, _):
                times['curl'].append(taken(['curl', '-s', '-f', '-o', '/dev/null', url], env)[0])
            with served(file, ms) as (url, counted):
                for name, what in (('here', file), ('there', url)):
                    took, held[name] = taken([str(ours), 'top', '--quiet', what], env)
                    times[name].append(took)
    rate, low, high = quarters([t / (c + h) for t, c, h in zip(times['there'], times['curl'], times['here'])])
    size = file.stat().st_size
    middle = {name: statistics.median(t) for name, t in times.items()}
    print(f'\ntop of {size / 1e6:.0f} MB that lie {ms} ms away: {args.runs} in turn\n  curl {middle["curl"]:.3f} s, here {middle["here"]:.3f} s, '
          f'there {middle["there"]:.3f} s: {rate:.3f} ({low:.2f}–{high:.2f}) of both; {held["there"]:.0f} MiB, here {held["here"]:.0f}; '
          f'asked for {counted[0] / size:.2f} times, {counted[1] / size:.3f} of it three times')
    results[f'top, {ms} ms away'] = {f'{name}_s': t for name, t in middle.items()} | {
        'of_both': round(rate, 4), 'mib': round(held['there'], 1), 'asked': round(counted[0] / size, 3)}
    if rate > most or counted[0] > 2 * size:
        note(f'top of what lies {ms} ms away takes more than {most} of both, or asks more than twice')


def bench_remote(ours, file, args, results):
    bench_listing(ours, args, results)
    for ms, most in ((0, 1.3), (20, 2)):
        bench_top(ours, file, ms, most, args, results)
    peaks = {}
    for size in SIZES[:1] if args.quick else SIZES:
        server = subprocess.Popen([sys.executable, STREAM, str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port, times = server.stdout.readline().strip(), {'ours': [], 'curl': []}
        with tempfile.TemporaryDirectory(dir='/dev/shm') as temp:
            request = pathlib.Path(temp, 'request')
            request.write_bytes(bytes(5))
            curl = ['curl', '-s', '-f', '--http2-prior-knowledge', '--data-binary', f'@{request}', '-H', 'content-type: application/grpc',
                    '-H', 'te: trailers', '-o', f'{temp}/curl', f'http://127.0.0.1:{port}/tensorflow.ProfilerService/Profile']
            capture = [str(ours), 'capture', '--format', 'json', '--duration', '1', '--out', f'{temp}/ours', f'127.0.0.1:{port}']
            for _ in range(args.runs if size < 1000 else max(3, args.runs // 5)):
                for name, argv in (('ours', capture), ('curl', curl)):
                    took, most = watched(argv)
                    times[name].append(took)
                    peaks[size] = max(peaks.get(size, 0), most)
                shutil.rmtree(f'{temp}/ours')
                pathlib.Path(temp, 'curl').unlink()
        server.communicate('')
        of = [b / a for a, b in zip(times['ours'], times['curl'])]
        rate, low, high = quarters(of)
        print(f'\ncapture of {size} MB over loopback: {len(of)} in turn\n  ours {statistics.median(times["ours"]):.3f} s, curl '
              f'{statistics.median(times["curl"]):.3f} s: {rate:.3f} ({low:.2f}–{high:.2f}) of its rate; view_profile-fetch '
              f'{peaks[size] / 1024:.1f} MiB at most')
        results[f'capture of {size} MB'] = {'ours_s': statistics.median(times['ours']), 'curl_s': statistics.median(times['curl']),
                                            'of_curls_rate': round(rate, 4), 'fetch_kib': peaks[size]}
        if rate < 0.9:
            note(f'a capture of {size} MB is slower than 0.9 of curl')
    if max(peaks.values()) > min(peaks.values()) + PEAK_KIB:
        note('view_profile-fetch takes more of memory for a larger capture')
