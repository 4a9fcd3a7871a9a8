"""Commands beside each other, for scripts/bench: in turn, so that whatever else shakes a machine shakes all of them; ratios of
runs that stood side by side, their median and the quarters around it; and the least of each, which noise only adds to."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

WHAT = ('wall', 'cpu', 'rss')
# Of all processors' time, what others may take: above it a figure says more of them than of us.
BUSY_MAX = 0.25


def note(text):
    print(f'bench: {text}', file=sys.stderr, flush=True)


def busy_share(seconds=2):
    """How much of the processors' time somebody takes while we wait; the load average still remembers the build."""
    def spent():
        fields = [int(v) for v in pathlib.Path('/proc/stat').read_text().split('\n', 1)[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]  # idle, iowait
    (before, idle_before) = spent()
    time.sleep(seconds)
    (after, idle_after) = spent()
    return 1 - (idle_after - idle_before) / max(1, after - before)


def machine():
    model = next((line.split(':', 1)[1].strip() for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
                  if line.startswith('model name')), 'unknown processor')
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30)
    return f'{len(os.sched_getaffinity(0))} cores of {model}, {memory:.0f} GiB, Linux {os.uname().release}'


def measure(argv):
    """wall s, CPU s, peak RSS MiB of one run; stdout goes nowhere."""
    begin = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begin
    if child.returncode:
        return None
    return wall, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def quarters(values):
    """The median, and the quarters below and above it."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method='inclusive')
    return middle, low, high


def ratios(ours, theirs):
    """By wall, CPU and memory: of pairs, median, lower and upper quarter; and the least of ours by the least of theirs."""
    pairs = [[a / max(b, 1e-9) for a, b in zip(x, y)] for x, y in zip(ours, theirs)]
    return {what: (*quarters([p[i] for p in pairs]), min(x[i] for x in ours) / max(min(y[i] for y in theirs), 1e-9))
            for i, what in enumerate(WHAT)}


def compare(title, commands, runs, results):
    """commands: name → argv, ours first. Prints a table; a command that fails once is out. By name: the medians of wall s,
    CPU s and MiB."""
    samples = {name: [] for name in commands}
    for _ in range(runs):
        for name, argv in commands.items():
            one = samples[name] is not None and measure(argv)
            samples[name] = [*samples[name], one] if one else None
    first = next(iter(commands))
    print(f'\n{title}: {runs} in turn')
    print(f'  {"":28} {"wall s":>8} {"least":>8} {"CPU s":>8} {"MiB":>8}   ours/this, median of pairs (quarters), least by least: wall · CPU; MiB')
    rows, results[title] = {}, {}
    for name, some in samples.items():
        if not some or not samples[first]:
            print(f'  {name:28} failed')
            continue
        rows[name] = [statistics.median(c) for c in zip(*some)]
        of = ratios(samples[first], some)
        said = ' · '.join('{:.3f} ({:.2f}–{:.2f}) {:.3f}'.format(*of[what]) for what in ('wall', 'cpu'))
        r = rows[name]
        print(f'  {name:28} {r[0]:8.3f} {min(s[0] for s in some):8.3f} {r[1]:8.3f} {r[2]:8.1f}   {said}; {of["rss"][0]:.3f}')
        results[title][name] = {'wall_s': round(r[0], 4), 'cpu_s': round(r[1], 4), 'rss_mib': round(r[2], 1), 'pairs': len(some),
                                'ours_by_this': {what: [round(v, 4) for v in of[what]] for what in WHAT}}
    return rows
