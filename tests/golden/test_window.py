"""`top --window START..END` answers for the time between two times. Windows that meet share out what ran: their
self times and their classes sum to those of the whole, op by op, exactly, on the host's clock and on a device's own."""
import collections
import concurrent.futures
import json

import pytest

from common import least, timelines, trace, view_profile

JAX_CPU = 'jax_cpu/three_runs'
BYTES_MAX = 4_000_000  # of a file: each is read five times
NS = 1000


def top(path, *options):
    made = view_profile('top', '--format', 'json', str(path), *options, check=False)
    return json.loads(made.stdout) if made.returncode == 0 else None


def window(path, a, b, *options):
    return top(path, '--window', f'{a}..{b}', *options)


def sums(reports):
    ops, classes = collections.Counter(), collections.Counter()
    for r in reports:
        for o in r['ops']:
            ops[o['device'], o['host'], o['class'], o['name']] += o['self_ps']
        for d in r['devices']:
            for k in ('compute_ps', 'exposed_comm_ps', 'exposed_copy_ps'):
                classes[d['name'], d['host'], k] += d['breakdown'][k]
    return +ops, +classes


def pieces(whole):
    """Three windows in ns that meet and hold all that ran."""
    start = min(0, whole['window']['start_ps'])
    length = max(whole['window']['capture_ps'] or 0, whole['window']['end_ps'] - start) // NS
    at = [0, length // 3, length // 3 + length // 5, 2 * length + 10**9]
    return list(zip(at, at[1:]))


def shared_out(path):
    whole = top(path, '--top', '100000')
    if not whole or not whole['ops'] or len(whole['session']['hosts']) > 1 or whole['window']['capture_ps'] is None:
        return None
    parts = [window(path, a, b, '--top', '100000') for a, b in pieces(whole)]
    return path.name, whole, parts


@pytest.mark.slow
def test_windows_that_meet_share_out_the_whole():
    files = [p for p in timelines() if p.stat().st_size < BYTES_MAX]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        made = [m for m in pool.map(shared_out, files) if m]
    assert len(made) >= least(60, 30)
    assert any(whole['window']['clock'] == 'device' for _, whole, _ in made)
    crossing = []  # zones of one thread that cut each other: what began last has the time, also in the rest
    for name, whole, parts in made:
        (ops, classes), (all_ops, all_classes) = sums(parts), sums([whole])
        assert classes == all_classes and ops.total() == all_ops.total(), name
        if ops != all_ops:
            assert not whole['analysis']['has_devices'], name
            crossing.append(name)
        assert all(p['window']['policy'] == 'asked' for p in parts), name
    assert len(crossing) <= 3, crossing


def test_the_window_of_a_step_holds_what_the_step_holds():
    """On one clock, a step's own time asked for as a window gives its ops."""
    path = trace(JAX_CPU)
    steps = json.loads(view_profile('report', '--format', 'json', str(path)).stdout)['steps']['list']
    step = next(s for s in steps if s['start_ps'] % NS == 0 and s['dur_ps'] % NS == 0)
    (device,) = step['devices']
    a, b = device['start_ps'] // NS, (device['start_ps'] + device['dur_ps']) // NS
    asked, whole = window(path, a, b), top(path, '--step', str(step['number']))
    assert asked['ops'] == whole['ops'] and asked['devices'][0]['breakdown'] == whole['devices'][0]['breakdown']
    assert (asked['window']['start_ps'], asked['window']['end_ps']) == (a * NS, b * NS)


def test_where_nothing_ran_the_device_was_idle():
    made = window(trace(JAX_CPU), '1m', '61s')
    (device,) = made['devices']
    assert device['breakdown']['idle_ps'] == device['breakdown']['window_ps'] == 10**12
    assert not [o for o in made['ops'] if o['self_ps']]


def test_text_says_that_it_was_asked_for():
    out = view_profile('top', '--window', '50ms..70ms', str(trace(JAX_CPU))).stdout
    assert 'window 20.000 ms (selected)' in out


@pytest.mark.parametrize('options, says', [
    (('--window', '7ms..5ms'), 'must be START..END'), (('--window', '5ms'), 'must be START..END'),
    (('--window', 'x..y'), 'must be START..END'), (('--window', '-1s..2s'), 'must be START..END'),
    (('--window', '1s..2s', '--step', '1'), 'use one of them')])
def test_what_makes_no_sense_is_refused(options, says):
    made = view_profile('top', *options, str(trace(JAX_CPU)), check=False)
    assert made.returncode == 2 and says in made.stderr and not made.stdout
