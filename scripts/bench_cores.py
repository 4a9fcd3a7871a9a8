"""The section "cores" of scripts/bench: the same work on 1, 2, 4 and 8 processors, as far as there are so many; the share of it
that does not scale, by Amdahl's law of the times on one and on most; and which functions that is: where the main thread is
seen by perf while no helper is."""
import collections
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from bench_compare import note

CORES = (1, 2, 4, 8)
SHOWN = 8
HERTZ = 4000
BUCKET_S = 4 / HERTZ  # who runs all the time is seen four times in it


def named(cores):
    return f'{cores} cores' if cores > 1 else '1 core'


def on(cores, argv):
    cpus = sorted(os.sched_getaffinity(0))[:cores]
    return ['taskset', '-c', ','.join(map(str, cpus)), *argv]


def serial_share(by, cores):
    """Amdahl's: of the work on one processor, what takes as long on `cores` of them; by: the time there by that on one."""
    return (cores * by - 1) / (cores - 1)


def alone(samples, main):
    """Of (thread, second, function) the functions of the main thread in buckets of time in which only it was seen, counted;
    and in how many buckets, of all."""
    buckets = collections.defaultdict(list)
    for thread, second, function in samples:
        buckets[int(second / BUCKET_S)].append((thread, function))
    only = [seen for seen in buckets.values() if all(thread == main for thread, _ in seen)]
    return collections.Counter(function for seen in only for _, function in seen), len(only), len(buckets)


def sampled(argv):
    """[(thread, second, function)], and the main thread; None where perf may not look."""
    with tempfile.TemporaryDirectory() as temp:
        data = f'{temp}/perf.data'
        done = subprocess.run(['perf', 'record', '-q', '-F', str(HERTZ), '-e', 'cpu-clock', '-o', data, '--', *argv],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode:
            return None
        text = subprocess.run(['perf', 'script', '-i', data, '-F', 'pid,tid,time,ip,sym'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
    rows = re.findall(r'^\s*(\d+)/(\d+)\s+([\d.]+):\s+[0-9a-f]+ (.*)', text, re.M)
    return [(int(tid), float(second), function.strip()) for _, tid, second, function in rows], int(rows[0][0]) if rows else 0


def say_serial(title, argv, results):
    found = sampled(argv) if shutil.which('perf') else None
    if not found or not found[0]:
        note('no perf that may sample: which functions run alone is not said')
        return
    functions, buckets, of = alone(*found)
    every = sum(functions.values()) or 1
    print(f'  {buckets / of:.0%} of the time only the main thread runs, in: '
          + ', '.join(f'{name} {n / every:.0%}' for name, n in functions.most_common(SHOWN)))
    results[f'cores: {title}'].update(alone=round(buckets / of, 3), alone_in={name: round(n / every, 3)
                                                                             for name, n in functions.most_common(SHOWN)})


def bench_cores(compare, title, argv, runs, results):
    cores = [n for n in CORES if n <= len(os.sched_getaffinity(0))]
    rows = compare(f'{title} on {", ".join(map(str, cores))} cores', {named(n): on(n, argv) for n in cores}, runs, results)
    row = results[f'cores: {title}'] = {}
    for n in cores[1:]:
        by = statistics.median(a[0] / b[0] for a, b in zip(rows.samples[named(n)], rows.samples[named(1)]))
        row[f'{n}'] = {'times': round(1 / by, 3), 'serial': round(serial_share(by, n), 3)}
        print(f'  {named(n)}: {1 / by:.2f} times as fast; {serial_share(by, n):.0%} of the work does not scale')
    if len(cores) > 1:
        say_serial(title, on(cores[-1], argv), results)
    else:
        note('one core: nothing to scale over')
