"""Several memory profiles of one program: what grows from each to the next is a leak, with its line."""
import json
import os
import subprocess

from gen import pprof

VIEW_PROFILE = os.environ['VIEW_PROFILE']
KIB, MIB = 1 << 10, 1 << 20


def run_of(tmp_path, sizes, log='append_state'):
    run = tmp_path / 'plugins' / 'profile' / '2026_11_26'
    run.mkdir(parents=True)
    for i, size in enumerate(sizes):
        holders = [('init', '/job/model.py', 10, 'cpu:0', 64 * MIB, 4), (log, '/job/train.py', 33, 'cpu:0', size, i + 1)]
        # names in another order than times
        (run / f'{len(sizes) - i}.prof').write_bytes(pprof.profile([h for h in holders if h[4]], 1_700_000_000 + i))
    return run


def report(path):
    done = subprocess.run([VIEW_PROFILE, 'report', '--format', 'json', path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def last(r):
    return r['memory']['allocators'][-1], {f['id']: f for f in r['findings']}['F30']


def test_growth_from_profile_to_profile_is_a_leak(tmp_path):
    m, leak = last(report(run_of(tmp_path, [i * MIB for i in range(6)])))
    assert m['allocator'] == '1.prof cpu:0' and m['peak_bytes'] == 69 * MIB
    assert sum(t['bytes'] for t in m['top']) == m['peak_bytes']
    assert m['leak_steps'] == 5
    assert m['leaks'] == [{'name': 'append_state', 'scope': None, 'source': '/job/train.py:33', 'bytes': 5 * MIB,
                           'count': 6, 'steps': 5}]
    assert leak['status'] == 'fired' and leak['severity'] == 'high'
    assert '1.0 MiB more after each step (in 5 of 5 steps), allocated by append_state (/job/train.py:33)' in leak['message']


def test_what_comes_and_goes_or_grows_once_is_none(tmp_path):
    for i, sizes in enumerate(([MIB] * 6, [0, MIB, 0, 2 * MIB, MIB, 3 * MIB], [MIB, 9 * MIB, 9 * MIB, 9 * MIB, 9 * MIB])):
        assert last(report(run_of(tmp_path / str(i), sizes)))[1]['status'] == 'clear', sizes


def test_few_profiles_say_nothing_of_growth(tmp_path):
    m, leak = last(report(run_of(tmp_path, [MIB, 2 * MIB, 3 * MIB])))
    assert m['leak_steps'] == 2 and leak['status'] == 'not_evaluated'
    assert report(run_of(tmp_path / 'one', [MIB]))['memory']['allocators'][0]['leak_steps'] is None
