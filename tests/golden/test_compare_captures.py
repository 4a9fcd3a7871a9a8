"""compare with several captures a side: the noise within and between them, against an independent computation, and what a gate does with
sides of every odd form."""
import itertools
import json
import math
import pathlib
import random
import statistics

import pytest

import identities
from common import view_profile

MS = 10**9


def report(folder, name, steps, findings=(), devices=1, start=0):
    """A report with steps of these lengths in ps, whose work fills them."""
    device = {'host': 'h', 'kind': 'gpu', 'steps_counted': len(steps),
              'breakdown': {'window_ps': sum(steps), 'compute_ps': sum(steps), 'exposed_comm_ps': 0, 'exposed_copy_ps': 0, 'idle_ps': 0,
                            'busy_ps': sum(steps)}}
    listed, at = [], start
    for n, ps in enumerate(steps):
        parts = {'window_ps': ps, 'compute_ps': ps, 'exposed_comm_ps': 0, 'exposed_copy_ps': 0, 'idle_ps': 0}
        listed.append({'number': n, 'start_ps': at, 'dur_ps': ps, 'device_index': 0,
                       'devices': [{'device_index': i, 'start_ps': at, 'dur_ps': ps, 'breakdown': parts} for i in range(devices)]})
        at += ps
    made = {'schema': 'view_profile.report/1', 'session': {'id': name, 'name': name, 'path': name, 'hosts': ['h'], 'files': []},
            'analysis': {'events': 9, 'has_devices': True}, 'complete': True,
            'window': {'start_ps': start, 'end_ps': at, 'base_unix_ns': 1 + sum(map(ord, name)) + at},
            'devices': [{**device, 'name': f'dev{i}'} for i in range(devices)], 'ops': [],
            'steps': {'source': 'annotation', 'list': listed}}
    path = folder / f'{name}.json'
    path.write_text(json.dumps(made))
    return str(path)


def compare(*options, code=0):
    done = view_profile('compare', '--format=json', *options, check=False)
    assert done.returncode == code, (done.returncode, done.stdout[-300:], done.stderr)
    return identities.strict(done.stdout) if code in (0, 1) else done.stderr


def options_of(base, new):
    return [f'--base={p}' for p in base] + [f'--new={p}' for p in new]


# ---- The same figures by another way ----

def student_tail(t, freedom):
    """P(T > t), by Simpson's rule over the density."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    turn, parts = math.atan(t / math.sqrt(freedom)), 4000
    width = (math.pi / 2 - turn) / parts
    values = [math.cos(turn + i * width) ** (freedom - 1) if i < parts else 0.0 for i in range(parts + 1)]
    return scale * width / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))


def student(level, freedom):
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > 1 - level else (low, middle)
    return low


def critical(n, m):
    """The largest U that is rare enough, by counting every order of n and m values one by one."""
    counts = {}
    for chosen in itertools.combinations(range(n + m), n):
        u = sum(place - i for i, place in enumerate(chosen))
        counts[u] = counts.get(u, 0) + 1
    below, best, orders = 0, -1, math.comb(n + m, n)
    for u in sorted(counts):
        below += counts[u]
        if below * 20000 > orders * 27:
            break
        best = u
    return 0 if best < 0 and orders >= 252 else best


def noise_by_ranks(a, b, delta):
    u = critical(len(a), len(b))
    if u < 0:
        return math.inf
    shifts = sorted(y - x for x in a for y in b)
    return max(0, delta - shifts[u] if delta >= 0 else shifts[-1 - u] - delta)


def noise_within(sides, delta):
    squares = sum((x - statistics.fmean(c)) ** 2 for side in sides for c in side for x in c)
    counts = [sum(map(len, side)) for side in sides]
    freedom = sum(counts) - sum(map(len, sides))
    t = student(0.99865, freedom) * math.sqrt(squares / freedom * math.pi / 2 * sum(1 / n for n in counts))
    return min(t, noise_by_ranks(*([x for c in side for x in c] for side in sides), delta))


def noise_between(sides, delta):
    medians = [[statistics.median(c) for c in side] for side in sides]
    freedom = sum(map(len, medians)) - 2
    variance = sum((x - statistics.fmean(m)) ** 2 for m in medians for x in m) / freedom
    of = {1: 1, 2: 1 / 2, 3: 0.449}
    t = student(251 / 252, freedom) * math.sqrt(variance * sum(of.get(len(m), math.pi / 2 / len(m)) for m in medians))
    return min(t, noise_by_ranks(*medians, delta))


@pytest.mark.parametrize('captures, steps', [((1, 1), 5), ((1, 1), 7), ((3, 3), 3), ((2, 2), 3), ((1, 3), 3), ((5, 5), 1)])
def test_noise_against_another_computation(tmp_path, captures, steps):
    rng = random.Random(sum(captures) * 10 + steps)
    sides = [[[int(MS * rng.lognormvariate(3 + shift, 0.05)) for _ in range(steps)] for _ in range(n)]
             for n, shift in zip(captures, (0, 0.2))]
    paths = [[report(tmp_path, f'{s}{i}', c) for i, c in enumerate(side)] for s, side in zip('ab', sides)]
    made = compare(*options_of(*paths))
    medians = [statistics.median(statistics.median_low(c) if len(c) % 2 else sorted(c)[len(c) // 2 - 1] for c in side) for side in sides]
    assert made['median']['a_ps'] == pytest.approx(medians[0], abs=1)
    delta = made['median']['delta_ps']
    if steps > 1:
        assert made['noise']['within_ps'] == pytest.approx(noise_within(sides, delta), rel=2e-3)
    if sum(captures) > 3:
        assert made['noise']['between_ps'] == pytest.approx(noise_between(sides, delta), rel=2e-3)
    else:
        assert made['noise']['between_ps'] is None
    assert made['noise']['threshold_ps'] == max(min(made['median']['a_ps'], made['median']['b_ps']) // 100,
                                                made['noise']['within_ps'] or 0, made['noise']['between_ps'] or 0)
    back = compare(*options_of(paths[1], paths[0]))
    assert back['noise']['threshold_ps'] == made['noise']['threshold_ps']
    assert back['median']['delta_ps'] == -delta


def test_one_capture_of_five_steps_gives_a_verdict(tmp_path):
    """A long outlier on both sides, which a mean and a deviation hide: all of B are longer than all of A."""
    a, b = report(tmp_path, 'a', [10 * MS, 11 * MS, 12 * MS, 13 * MS, 19 * MS]), report(tmp_path, 'b', [20 * MS, 21 * MS, 22 * MS, 23 * MS, 90 * MS])
    made = compare('--max-regression=5%', a, b, code=1)
    assert made['noise']['verdict'] == 'regression' and made['noise']['between_ps'] is None
    assert compare('--max-regression=5%', b, a)['noise']['verdict'] == 'improvement'
    assert 'unknown between captures' in view_profile('compare', a, b).stdout


def test_captures_that_differ_hide_a_change_that_one_pair_shows(tmp_path):
    """10, 14 and 10 ms against 12, 12 and 16: each is exact to 0.1 ms, but they differ more among themselves."""
    def side(name, lengths):
        return [report(tmp_path, f'{name}{i}', [x * MS + k * MS // 10 for k in range(5)]) for i, x in enumerate(lengths)]
    a, b = side('a', (10, 14, 10)), side('b', (12, 12, 16))
    assert compare('--max-regression=5%', a[0], b[0], code=1)['noise']['verdict'] == 'regression'
    made = compare('--max-regression=5%', *options_of(a, b))
    assert made['noise']['verdict'] == 'noise' and made['noise']['between_ps'] > made['noise']['within_ps']
    assert [c['shown'] for c in made['captures_a']].count(True) == 1 and made['a']['session']['id'] in ('a0', 'a2')
    assert compare('--max-regression=5%', *options_of(a, side('c', (30, 31, 33))), code=1)['noise']['verdict'] == 'regression'


def test_periodic_steps_count_although_the_median_does_not_move(tmp_path):
    plain = [7 * MS + k * MS // 50 for k in range(20)]
    heavy = [x + 30 * MS if k % 5 == 4 else x for k, x in enumerate(plain)]
    a, b = report(tmp_path, 'a', plain), report(tmp_path, 'b', heavy)
    made = compare('--max-regression=5%', a, b, code=1)
    assert made['noise']['verdict'] == 'regression' and 'periodic steps included' in made['noise']['reason']
    assert made['median']['delta_ps'] < MS // 2 < 5 * MS < made['typical']['delta_ps'] < 7 * MS
    compare('--max-regression=5%', b, a)


def test_periodic_steps_count_beside_slow_and_cut_ones(tmp_path):
    """Every fourth step evaluates. The first is slow and the last one cut: 14 of 16 are in two groups."""
    plain = [6 * MS + k * MS // 50 for k in range(16)]
    heavy = [x + 23 * MS if k % 4 == 3 else x for k, x in enumerate(plain)]
    heavy[0], heavy[15] = 8 * MS, 10 * MS
    a, b = report(tmp_path, 'a', plain), report(tmp_path, 'b', heavy)
    made = compare('--max-regression=5%', a, b, code=1)
    assert 'periodic steps included' in made['noise']['reason'] and made['typical']['delta_ps'] > 4 * MS
    compare('--max-regression=5%', b, a)
    heavy[3], heavy[4] = heavy[4], heavy[3]  # no period: steps are slow now and then
    compare('--max-regression=5%', a, report(tmp_path, 'c', heavy))


def test_steps_that_wait_now_and_then(tmp_path):
    """Four steps of 3 ms and three slow ones, against steps of 16 ms: all of these are longer than the four."""
    bursts = [3 * MS, 8 * MS, 3 * MS + 1, 22 * MS, 3 * MS + 2, 31 * MS, 3 * MS + 3]
    a, b = report(tmp_path, 'a', bursts), report(tmp_path, 'b', [16 * MS + k * MS // 10 for k in range(8)])
    made = compare('--max-regression=5%', a, b, code=1)
    assert made['noise']['verdict'] == 'regression'
    assert compare('--max-regression=5%', b, a)['noise']['verdict'] == 'improvement'
    slower = report(tmp_path, 'c', [x * 2 if x > 4 * MS else x for x in bursts])  # in the mean, A is longer now
    assert compare('--max-regression=5%', slower, b)['noise']['verdict'] == 'noise'
    mixed = report(tmp_path, 'd', [3 * MS] + [16 * MS + k * MS // 10 for k in range(7)])  # one of B is as short as A
    assert compare('--max-regression=5%', a, mixed)['noise']['verdict'] == 'noise'
    few = report(tmp_path, 'e', [16 * MS] * 3)  # 4 and 3 steps are in this order by chance once in 35
    assert compare('--max-regression=5%', a, few)['noise']['verdict'] == 'noise'


@pytest.mark.parametrize('steps', [[], [5 * MS], [5 * MS] * 2, [0] * 6])
def test_sides_that_prove_nothing_do_not_pass(tmp_path, steps):
    a, b = report(tmp_path, 'a', [5 * MS] * 6), report(tmp_path, 'b', steps)
    said = compare('--max-regression=5%', a, b, code=3)
    assert 'not verified' in said and '--allow-unverified' in said
    compare('--max-regression=5%', '--allow-unverified', a, b)
    compare('--fail-on=regression', b, a, code=3)
    compare(a, b)


@pytest.mark.slow
def test_a_hundred_thousand_steps(tmp_path):
    rng = random.Random(1)
    a, b = (report(tmp_path, n, [int(MS * x * (1 + rng.expovariate(5))) for _ in range(100_000)]) for n, x in (('a', 1), ('b', 1.02)))
    made = compare(a, b)
    assert made['noise']['verdict'] == 'regression' and 0 < made['noise']['within_ps'] < MS // 100


def test_sides_with_different_numbers_of_devices(tmp_path):
    a, b = report(tmp_path, 'a', [5 * MS] * 6), report(tmp_path, 'b', [6 * MS] * 6, devices=3)
    assert any('A has 1 devices, B has 3' in c for c in compare('--max-regression=5%', a, b, code=1)['caveats'])


def test_the_same_capture_on_both_sides_and_twice_on_one(tmp_path):
    a, b = report(tmp_path, 'a', [5 * MS, 6 * MS, 7 * MS]), report(tmp_path, 'b', [8 * MS] * 3)
    made = compare('--max-regression=0%', a, a)
    assert made['noise']['verdict'] == 'noise' and any('same capture' in c for c in made['caveats'])
    twice = compare(*options_of([a, a], [b]))
    assert [c['counts'] for c in twice['captures_a']] == [True, False]
    assert any('1 of 2 captures of A do not count' in c for c in twice['caveats'])


def test_a_damaged_file_among_good_ones_is_left_out(tmp_path):
    good = [report(tmp_path, f'a{i}', [5 * MS + i] * 6) for i in range(2)]
    bad = tmp_path / 'bad.json'
    bad.write_text('{"schema":"view_profile.report/1",')
    made = compare('--max-regression=5%', *options_of([good[0], str(bad), good[1]], good))
    assert len(made['captures_a']) == 2 and any('1 of 3 captures of A cannot be read' in c for c in made['caveats'])
    assert 'bad.json' in view_profile('compare', *options_of([good[0], str(bad)], good)).stderr
    compare('--max-regression=5%', *options_of([str(bad), str(bad)], good), code=3)


# ---- What changed ----

def window(folder, name, idle, ops=(), scopes=()):
    """A report without steps: idle time by (cause, label, user), ops with the scopes of their parts, and scopes by path."""
    total = sum(idle.values())
    causes = dict.fromkeys(('compile', 'input', 'callback', 'sync', 'transfer', 'host', 'call', 'latency', 'peer', 'unknown'), 0)
    for (cause, _, _), ps in idle.items():
        causes[cause] += ps
    busy = sum(ps for _, _, parts in ops for ps in parts.values())
    device = {'name': 'dev', 'host': 'h', 'kind': 'gpu', 'idle_causes': causes,
              'breakdown': {'window_ps': total + busy, 'compute_ps': busy, 'exposed_comm_ps': 0, 'exposed_copy_ps': 0, 'idle_ps': total, 'busy_ps': busy}}
    made = {'schema': 'view_profile.report/1', 'session': {'id': name, 'name': name, 'path': name, 'hosts': ['h'], 'files': []},
            'analysis': {'events': 9, 'has_devices': True}, 'complete': True, 'devices': [device],
            'ops': [{'device_index': 0, 'class': 'compute', 'category': 'fusion', 'name': op, 'scope': max(parts, key=parts.get), 'calls': calls * len(parts),
                     'scopes': len(parts), 'self_ps': sum(parts.values()), 'total_ps': sum(parts.values()),
                     'splits': [{'label': s, 'scope': s, 'source': None, 'calls': calls, 'self_ps': ps, 'max_ps': ps, 'stddev_ps': 0, 'by': 'scope'}
                                for s, ps in parts.items()] if len(parts) > 1 else []} for op, calls, parts in ops],
            'scopes': list(scopes),
            'idle_labels': [{'device_index': 0, 'cause': cause, 'label': label, 'user': user, 'thread': 'python', 'gaps': 1, 'total_ps': ps}
                            for (cause, label, user), ps in idle.items()]}
    path = folder / f'{name}.json'
    path.write_text(json.dumps(made))
    return str(path)


def test_idle_time_names_the_function_and_line_of_the_user(tmp_path):
    user = 'train (program.py:37)'
    a = window(tmp_path, 'a', {('host', '$core.py:7 bind', user): 2 * MS, ('input', '$data.py:9 load', 'load (data.py:9)'): 5 * MS})
    b = window(tmp_path, 'b', {('host', '$core.py:7 bind', user): 2 * MS, ('input', '$data.py:9 load', 'load (data.py:9)'): 5 * MS,
                               ('host', '$gc collect', user): 60 * MS})
    made = compare(a, b)
    row, = made['idle']
    assert (row['label'], row['user'], row['a_ps'], row['b_ps'], row['delta_ps']) == ('$gc collect', user, 0, 60 * MS, 60 * MS)
    assert made['cause'] == f'the device waits while the host is in $gc collect, called by {user}: +60.000 ms'
    assert compare(b, a)['cause'].endswith('-60.000 ms')
    for form in ('text', 'md', 'junit', 'html', 'csv'):
        assert 'program.py:37' in view_profile('compare', f'--format={form}', a, b).stdout, form


def tree(*paths, above=''):
    """The scopes of ops with these paths and times, nested."""
    heads = dict.fromkeys(path.partition('/')[0] for path, _ in paths)
    out = []
    for head in heads:
        inside = [(path.partition('/')[2], ps) for path, ps in paths if path.partition('/')[0] == head]
        path = f'{above}{head}'
        out.append({'path': path, 'name': head, 'self_ps': sum(ps for rest, ps in inside if not rest), 'total_ps': sum(ps for _, ps in inside),
                    'calls': len(inside), 'children': tree(*((rest, ps) for rest, ps in inside if rest), above=f'{path}/')})
    return out


def test_a_new_instruction_is_not_averaged_into_an_old_group(tmp_path):
    old = {'jit(f)/layer/dot': 10 * MS, 'jit(f)/head/dot': 4 * MS}
    new = old | {'jit(f)/slow/dot': 30 * MS}
    a, b = (window(tmp_path, n, {}, [('dot', 5, parts)], tree(*parts.items())) for n, parts in (('a', old), ('b', new)))
    made = compare(a, b)
    assert [(o['name'], o['delta_ps'], o['new'], o['scope']) for o in made['ops']] == [
        ('dot', 30 * MS, True, 'jit(f)/slow/dot'), ('dot', 0, False, 'jit(f)/layer/dot')]
    assert made['cause'].startswith('scope jit(f)/slow') and ' is new: +30.000 ms' in made['cause']
    assert [(s['path'], s['new'], s['gone']) for s in made['scopes'] if s['new']] == [('jit(f)/slow', True, False), ('jit(f)/slow/dot', True, False)]
    assert made['certain_ps'] == 15 * MS
    back = compare(b, a)
    assert [(o['delta_ps'], o['gone']) for o in back['ops']] == [(-30 * MS, True), (0, False)] and back['certain_ps'] == -15 * MS
    for form in ('text', 'md', 'junit', 'html'):
        text = view_profile('compare', f'--format={form}', a, b).stdout
        assert 'jit(f)/slow' in text and 'new' in text, form


def test_new_work_at_irregular_distances_is_in_the_mean_step(tmp_path):
    """A new scope takes 60 ms in two of ten steps, which leaves the median as it is."""
    def side(name, steps, **parts):
        path = pathlib.Path(report(tmp_path, name, steps))
        ops = pathlib.Path(window(tmp_path, f'{name}_ops', {}, [('dot', 5, parts)], tree(*parts.items())))
        made, other = (json.JSONDecoder().decode(p.read_text()) for p in (path, ops))
        made |= {key: other[key] for key in ('ops', 'scopes')}
        for row in made['ops']:
            row['step_self_ps'] = row['self_ps']
        path.write_text(json.dumps(made))
        return str(path)

    plain = [10 * MS + k * MS // 50 for k in range(10)]
    heavy = [x + 60 * MS if k in (2, 7) else x for k, x in enumerate(plain)]
    old = {'jit(f)/layer/dot': 100 * MS}
    a, b = side('a', plain, **old), side('b', heavy, **old, **{'jit(f)/eval/dot': 120 * MS})
    made = compare('--max-regression=5%', a, b, code=1)
    assert made['certain_ps'] == 6 * MS and made['typical']['delta_ps'] == 12 * MS
    assert 'the mean step' in made['noise']['reason']
    compare('--max-regression=5%', b, a)


def test_a_program_with_another_name_is_compared_by_the_names_of_its_ops(tmp_path):
    """Every scope is new, so none is: nothing is certain, and groups stay whole."""
    sides = []
    for name, root, layer in (('a', 'jit(f)', 10), ('b', 'jit(g)', 20)):
        parts = {f'{root}/layer/dot': layer * MS, f'{root}/head/dot': 4 * MS}
        sides.append(window(tmp_path, name, {}, [('dot', 5, parts)], tree(*parts.items())))
    made = compare(*sides)
    op, = made['ops']
    assert not op['new'] and op['delta_ps'] == 10 * MS and made['certain_ps'] == 0
