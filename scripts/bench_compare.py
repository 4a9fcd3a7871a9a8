"""Commands beside each other, for scripts/bench: in turn, so that whatever else shakes a machine shakes all of them; ratios of
runs that stood side by side, their median and the quarters around it; and the least of each, which noise only adds to. Page
faults are the kernel's account; instructions and misses of the cache are what a processor counts, where it may be asked."""
import functools
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# tests/bench/measured.c: what a Python starts has a Python's peak memory.
MEASURED = pathlib.Path(__file__).resolve().parent.parent / 'build' / 'release-tools' / 'tests' / 'measured'
WHAT = ('wall', 'cpu', 'rss')
COUNTERS = {'instructions': 'instructions:u', 'cache_misses': 'cache-misses:u'}
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
    system = platform.freedesktop_os_release()['PRETTY_NAME']
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30)
    return f'{len(os.sched_getaffinity(0))} cores of {model}, {memory:.0f} GiB, {system}, Linux {os.uname().release}'


def measure(argv):
    """wall s, CPU s, peak RSS MiB and page faults of one run; stdout goes nowhere."""
    done = subprocess.run([MEASURED, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    wall, cpu, kib, faults, status = done.stdout.split()
    return None if int(status) else (float(wall), float(cpu), int(kib) / 1024, int(faults))


def counted(argv):
    """{name of COUNTERS: how many} of one run; what the processor does not count here is not in it."""
    with tempfile.NamedTemporaryFile('r') as out:
        subprocess.run(['perf', 'stat', '-x', ',', '-e', ','.join(COUNTERS.values()), '-o', out.name, '--', *argv],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cells = [line.split(',') for line in out.read().splitlines()]
    seen = {c[2]: int(c[0]) for c in cells if len(c) > 2 and c[0].isdigit()}
    return {name: seen[event] for name, event in COUNTERS.items() if event in seen}


@functools.cache
def counters_here():
    found = list(counted(['true'])) if shutil.which('perf') else []
    missing = [name.replace('_', ' ') for name in COUNTERS if name not in found]
    if missing:
        note(f'{" and ".join(missing)} are not counted here ({"perf stat: not supported" if shutil.which("perf") else "no perf"})')
    return found


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


class Rows(dict):
    """By name the medians of wall s, CPU s, MiB and page faults; and any two commands beside each other."""

    def __init__(self):
        super().__init__()
        self.samples = {}

    def ratio(self, ours, theirs):
        """Medians of pairs, by wall, CPU and memory."""
        return {what: round(of[0], 4) for what, of in ratios(self.samples[ours], self.samples[theirs]).items()}


def compare(title, commands, runs, results):
    """commands: name → argv, ours first. Prints a table; a command that fails once is out."""
    samples = {name: [] for name in commands}
    for _ in range(runs):
        for name, argv in commands.items():
            one = samples[name] is not None and measure(argv)
            samples[name] = [*samples[name], one] if one else None
    first, counters = next(iter(commands)), counters_here()
    print(f'\n{title}: {runs} in turn')
    print(f'  {"":28} {"wall s":>8} {"least":>8} {"CPU s":>8} {"MiB":>8} {"faults":>9} '
          + ''.join(f'{name.replace("_", " "):>16}' for name in counters)
          + '  ours/this, median of pairs (quarters), least by least: wall · CPU; MiB')
    rows, results[title] = Rows(), {}
    for name, some in samples.items():
        if not some or not samples[first]:
            print(f'  {name:28} failed')
            continue
        rows.samples[name], rows[name] = some, [statistics.median(c) for c in zip(*some)]
        of, more = ratios(samples[first], some), counted(commands[name]) if counters else {}
        said = ' · '.join('{:.3f} ({:.2f}–{:.2f}) {:.3f}'.format(*of[what]) for what in ('wall', 'cpu'))
        r = rows[name]
        print(f'  {name:28} {r[0]:8.4f} {min(s[0] for s in some):8.4f} {r[1]:8.4f} {r[2]:8.1f} {r[3]:9,.0f} '
              + ''.join(f'{more.get(counter, 0):16,}' for counter in counters) + f'  {said}; {of["rss"][0]:.3f}')
        results[title][name] = {'wall_s': round(r[0], 5), 'cpu_s': round(r[1], 5), 'rss_mib': round(r[2], 1), 'faults': round(r[3]),
                                **more, 'pairs': len(some),
                                'ours_by_this': {what: [round(v, 4) for v in of[what]] for what in WHAT}}
    return rows
