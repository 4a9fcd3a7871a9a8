"""What must hold in every full report, whatever was read: check(made) raises on the first breach."""
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from rules import ORDER  # noqa: E402

CLASSES = ('compute_ps', 'exposed_comm_ps', 'exposed_copy_ps', 'idle_ps')
LEVELS = ['low', 'medium', 'high']
TIMES = re.compile(r'^(first_|last_|max_|peak_)?(start|end)_ps$')  # may be negative, and null
SHARE = re.compile(r'(^|_)share(_|$)')
DENOMINATED = re.compile(r'^(\w+_share_of_\w+|share_of_\w+|cumulative_share)$')


def strict(text):
    """Parsed JSON that has no NaN, no Infinity and no key twice in one object."""
    import json

    def refuse(word):
        raise AssertionError(f'{word} in JSON')

    def once(pairs):
        keys = [k for k, _ in pairs]
        assert len(keys) == len(set(keys)), [k for k in keys if keys.count(k) > 1]
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def walk(value, path=''):
    """(path, key, value) of every member of every object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path, key, inner
            yield from walk(inner, f'{path}.{key}')
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from walk(inner, f'{path}[{i}]')


def check_numbers(made):
    """Durations are integers and never negative, shares lie between 0 and 1 and say of what."""
    for path, key, value in walk(made):
        at = f'{path}.{key} = {value!r}'
        if key.endswith('_ps') and not isinstance(value, list) and value is not None:
            assert isinstance(value, int) and not isinstance(value, bool), at
            assert value >= 0 or TIMES.match(key), at
        if isinstance(value, float):
            assert math.isfinite(value), at
        if SHARE.search(key):
            assert DENOMINATED.match(key), f'{at}: of what?'
            assert value is None or 0 <= value <= 1 + 1e-9, at


def check_breakdown(b, at):
    assert sum(b[c] for c in CLASSES) == b['window_ps'], at
    assert b['busy_ps'] == b['window_ps'] - b['idle_ps'], at
    assert b['overlap_comm_ps'] + b['exposed_comm_ps'] == b['comm_ps'], at
    assert b['exposed_copy_ps'] <= b['copy_ps'] <= b['busy_ps'], at
    assert min(b.values()) >= 0, at


def by_device(rows):
    """Position of the device → its rows; names of processes need not be unique."""
    out = {}
    for r in rows:
        out.setdefault(r['device_index'], []).append(r)
    return out


def check_devices(made):
    gaps = by_device(made['gaps'])
    for i, d in enumerate(made['devices']):
        at = d['name']
        check_breakdown(d['breakdown'], at)
        assert d['window']['end_ps'] - d['window']['start_ps'] == d['breakdown']['window_ps'], at
        mine = gaps.get(i, [])
        known = sum(g['dur_ps'] for g in mine)
        assert known <= d['breakdown']['idle_ps'] and len(mine) <= d['gap_count'], at
        if d['kind'] != 'other' and len(mine) == d['gap_count']:
            assert known == d['breakdown']['idle_ps'], at
        assert sum(d['idle_causes'].values()) == d['breakdown']['idle_ps'], at
        assert all(v <= d['self_ps'] for k, v in d['hygiene'].items() if k.endswith('_ps')), (at, d['hygiene'])


# Every instant that a device computes belongs to one op, and every op's time to its cells: those of the
# device are the sums of its ops' and, together, of the scopes', and none is lost to a cost or a peak.
def check_waterfall(made):
    if made['analysis']['depth'] != 'full':
        return
    of_ops = {}
    for op in made['ops']:
        for cell, ps in op['roof']['cells'].items():
            key = op['device_index'], cell
            of_ops[key] = of_ops.get(key, 0) + ps
    whole, waits = 0, {}
    for i, d in enumerate(made['devices']):
        at, mfu = d['name'], d['mfu']
        if not made['analysis']['has_devices']:
            assert sum(mfu['cells'].values()) == 0, at
            continue
        cells = mfu['cells']
        assert all(v >= 0 for v in cells.values()), at
        assert sum(cells.values()) == d['breakdown']['compute_ps'], at
        whole += sum(cells.values())
        assert all(of_ops.get((i, cell), 0) == ps for cell, ps in cells.items()), at
        assert mfu['formatting_ps'] <= cells['nm_memory'] + cells['nm_excess'], at
        assert (mfu['mfu'] is None) == (mfu['peak_gflops'] is None), at
    if made['analysis']['has_devices'] and made['scopes']:
        assert sum(sum(s['roof']['cells'].values()) for s in made['scopes']) == whole
    for s in made['steps']['list'] if made['analysis']['has_devices'] else ():
        for d in s['devices']:
            assert sum(d['cells'].values()) == d['breakdown']['compute_ps'], (s['name'], d['name'])
            waits[d['device_index']] = waits.get(d['device_index'], 0) + (d['exposed_wait_ps'] or 0)
            assert (d['exposed_wait_ps'] is None) == (made['devices'][d['device_index']]['exposed_wait_ps'] is None)
            assert (d['exposed_wait_ps'] or 0) <= d['breakdown']['exposed_comm_ps'], (s['name'], d['name'])
    assert all(ps <= (made['devices'][i]['exposed_wait_ps'] or 0) for i, ps in waits.items())


def check_gaps(made):
    for g in made['gaps']:
        assert g['dur_ps'] > 0, g
        assert sum(g['causes'].values()) == g['dur_ps'], g
        parts = g['host_late_ps'] + g['in_call_ps'] + g['latency_ps']
        assert parts + g['causes']['unknown'] == g['dur_ps'] or parts <= g['dur_ps'], g
        assert g['causes']['call'] == g['in_call_ps'] and g['causes']['latency'] == g['latency_ps'], g
    for rows in by_device(made['gaps']).values():
        assert [g['dur_ps'] for g in rows] == sorted((g['dur_ps'] for g in rows), reverse=True)
        spans = sorted((g['start_ps'], g['dur_ps']) for g in rows)
        assert len({s for s, _ in spans}) == len(spans)


def check_idle_labels(made):
    for i, rows in by_device(made['idle_labels']).items():
        assert sum(r['total_ps'] for r in rows) <= made['devices'][i]['breakdown']['idle_ps'], i
        assert all(0 < r['gaps'] for r in rows), rows


def check_ops(made):
    for o in made['ops']:
        at = (o['device'], o['name'])
        assert o['calls'] >= 1, at
        assert o['min_ps'] <= o['p50_ps'] <= o['p95_ps'] <= o['max_ps'], at
        if made['analysis']['has_devices']:  # host calls nest in calls of the same name: total has the outermost
            assert o['min_ps'] <= o['mean_ps'] <= o['max_ps'], at
        assert o['self_ps'] <= o['total_ps'], at
        assert o['step_self_ps'] is None or o['step_self_ps'] <= o['self_ps'], at
        assert o['step_calls'] is None or o['step_calls'] <= o['calls'], at
        assert sum(s['self_ps'] for s in o['splits']) <= o['self_ps'], at
    rows = by_device(made['ops'])
    for i, d in enumerate(made['devices']):
        assert sum(o['self_ps'] for o in rows.get(i, [])) == d['self_ps'], d['name']
        assert sum(o['idle_before_ps'] or 0 for o in rows.get(i, [])) <= d['breakdown']['idle_ps'], d['name']
        if d['self_ps']:
            assert abs(rows[i][-1]['cumulative_share'] - 1) < 1e-6, d['name']


def check_scopes(made):
    def one(s):
        assert s['total_ps'] == s['self_ps'] + sum(one(c) for c in s['children']), s['path']
        assert s['backward_ps'] <= s['total_ps'] and s['remat_ps'] <= s['total_ps'], s['path']
        return s['total_ps']

    whole = sum(one(s) for s in made['scopes'])
    assert whole <= sum(d['self_ps'] for d in made['devices'])
    folded = sum(f['forward_ps'] + f['backward_ps'] + f['remat_ps'] for f in made['folded_scopes'])
    assert folded == whole or not made['folded_scopes'], (folded, whole)


def check_steps(made):
    steps = made['steps']
    assert steps['count'] == len(steps['list'])
    main = steps['series'][0]['name'] if steps['series'] else ''  # '': all steps are one series
    counted = [s for s in steps['list'] if not s['partial'] and not s['warm_up'] and (
        len(steps['series']) < 2 or re.sub(r'[# ]?\d+$', '', s['name']) == main)]
    for s in steps['list']:
        for d in s['devices']:
            check_breakdown(d['breakdown'], (s['name'], d['name']))
            assert d['breakdown']['window_ps'] == d['dur_ps'], (s['name'], d['name'])
            assert sum(d['idle_causes'].values()) == d['breakdown']['idle_ps'], (s['name'], d['name'])
        if s['devices']:
            assert s['dur_ps'] == max(d['dur_ps'] for d in s['devices']), s['name']
            assert s['breakdown']['window_ps'] == s['dur_ps'], s['name']
    for windows in by_device(d for s in steps['list'] for d in s['devices']).values():
        starts = [w['start_ps'] for w in windows]
        assert starts == sorted(starts), starts
    if not counted:
        assert steps['median_ps'] is None and steps['mean_ps'] is None and steps['cv'] is None
        return
    assert steps['counted'] == len(counted)
    durations = sorted(s['dur_ps'] for s in counted)
    assert (steps['min_ps'], steps['max_ps']) == (durations[0], durations[-1])
    assert abs(steps['mean_ps'] - sum(durations) / len(durations)) <= 1
    assert durations[0] <= steps['median_ps'] <= steps['p90_ps'] <= steps['p95_ps'] <= durations[-1]
    assert steps['excess_ps'] == sum(max(0, x - steps['median_ps']) for x in durations)
    middle = durations[(len(durations) - 1) // 2], durations[len(durations) // 2]
    assert middle[0] <= steps['median_ps'] <= middle[1]
    members = sum(g['count'] for g in steps['groups'])  # a few outliers belong to none
    assert members == 0 or 0.9 * len(counted) <= members <= len(counted)


def check_communication(made):
    for c in made['collectives']:
        assert c['exposed_ps'] <= c['union_ps'] <= c['total_ps'], c
        assert c['exposed_ps'] <= made['devices'][c['device_index']]['breakdown']['exposed_comm_ps'], c
        assert len(c['sample_start_ps']) == len(c['sample_dur_ps']), c
        assert c['group_size'] is None or c['group_size'] >= 1, c
    for t in made['transfers']:
        if t['device_index'] is not None and not t['host_only']:
            assert t['exposed_ps'] <= made['devices'][t['device_index']]['breakdown']['exposed_copy_ps'], t
        assert 0 <= t['exposed_count'] <= t['count'], t
        assert t['pageable'] is None or t['pageable'] <= t['count'], t
        assert t['largest']['dur_ps'] <= max(t['busy_ps'], t['total_ps']), t


def check_compile(made):
    c = made['compile']
    assert c['late'] <= c['count'] and c['late_ps'] <= c['total_ps']
    assert sum(f['compiles'] for f in c['functions']) == c['count'] or not c['functions']
    for f in c['functions']:
        assert f['repeat_ps'] <= f['total_ps'] and f['late_ps'] <= f['total_ps'] and f['late'] <= f['compiles'], f
        assert f['compiles'] == 0 or f['first_start_ps'] <= f['last_start_ps'], f
        assert f['first_dur_ps'] + f['repeat_ps'] == f['total_ps'] and f['last_dur_ps'] <= f['total_ps'], f
        assert (f['ready_ps'] is None) == (f['compiles'] == 0), f
        assert f['late'] or not f['compiles'] or f['ready_ps'] == f['first_start_ps'] + f['first_dur_ps'], f
    assert [f['function'] for f in c['recompiled']] == [f['function'] for f in c['functions'] if f['compiles'] >= 2]


def check_host(made):
    for h in made['host_ops']:
        assert h['idle_ps'] is None or h['idle_ps'] <= h['self_ps'], h
        assert h['max_ps'] <= h['total_ps'] and h['calls'] >= 1, h
    for row in made['launch']['devices']:
        if not made['analysis']['has_devices']:  # nothing is launched on the threads of a host
            assert {v for k, v in row.items() if k not in ('device', 'host', 'device_index')} == {None}, row
        if row['calls'] is None:
            continue
        assert row['short_kernels'] <= row['kernels'], row
        assert (row['call_p50_ps'] or 0) <= (row['call_p95_ps'] or 0), row
        assert (row['delay_p50_ps'] or 0) <= (row['delay_p95_ps'] or 0), row


def check_replays(made):
    """A replay without a part of the program takes no more time than the whole replay, and never less than nothing."""
    replayed = {r['replay_host']: r['replayed_ps'] for r in made.get('replays', [])}
    assert len(replayed) == len(made.get('replays', []))
    for r in made.get('replays', []):
        assert r['recorded_ps'] > 0 and 0 <= r['unwaited_ps'] <= r['replayed_ps'] and r['waits'] >= 0, r
    for f in made.get('user_functions', []):
        assert 0 <= f['without_ps'] <= replayed[f['function_host']], f
        assert 0 < f['max_ps'] <= f['total_ps'] and f['launches'] >= 0 and f['reads'] >= 0, f
        assert f['launches'] or not f['run_ps'], f


def check_balance(made):
    b = made['balance']
    if (b['devices'] or 0) < 2:
        assert b['max_ps'] is None and b['straggler'] is None, b
        return
    assert b['min_ps'] <= b['mean_ps'] <= b['max_ps'], b
    if b['straggler']:
        assert b['straggler_last'] <= b['matched'], b


def check_curves(m):
    """What is reserved and what is free in pieces, at the points of what is in use."""
    n, reserved, pieces = len(m['sample_bytes']), m['sample_reserved_bytes'], m['sample_fragmented_bytes']
    assert len(m['sample_start_ps']) == n and len(reserved) in (0, n) and len(pieces) in (0, n), m
    for used, of in zip(m['sample_bytes'], reserved):
        assert used <= of <= m['reserved_peak_bytes'], m
    for used, free in zip(m['sample_bytes'], pieces):
        assert free + used <= m['total_bytes'], m


def check_memory(made):
    for m in (made['memory'] or {'allocators': []})['allocators']:
        assert m['sample_bytes'] == [] or max(m['sample_bytes']) <= m['peak_bytes'], m
        check_curves(m)
        assert m['total_bytes'] is None or m['peak_bytes'] <= m['total_bytes'], m
        if m['top']:  # whoever holds the peak is named, or counted
            assert sum(t['bytes'] for t in m['top']) == m['peak_bytes'], m
        assert (m['reserved_bytes'] or 0) <= (m['reserved_peak_bytes'] or 0), m
        assert (m['fragmented_bytes'] or 0) <= (m['fragmented_of_bytes'] or 0), m
        assert (m['step_allocations'] or 0) <= (m['allocations'] or 0), m
        assert m['leak_steps'] is None or m['leak_steps'] <= max(0, m['steps'] or m['leak_steps']), m
        for leak in m['leaks']:
            assert 0 < leak['steps'] <= min(m['leak_steps'], leak['count']), m


KEPT = ('parameter_bytes', 'output_bytes', 'constant_bytes')  # as long as the program


# Every byte of a peak is somebody's, at every moment of the curve, too; and what is kept and the largest temporaries
# are what is reserved. A plan that makes no sense is said to make none.
def check_plans(made):
    odd = any(q['code'] == 'memory-plan' for q in made['quality'])
    for p in made['memory_static'] or ():
        at = (p['module'], p['space'])
        kept = sum(p[k] for k in KEPT)
        assert p['reserved_bytes'] == kept + p['temp_bytes'] or odd, at
        if p['peak_bytes'] is None:
            assert not p['live'] and not p['layers'], at
            continue
        assert p['peak_bytes'] == kept + p['heap_peak_bytes'] or odd, at
        assert p['peak_bytes'] == sum(b['bytes'] for b in p['live']), at
        assert p['peak_bytes'] <= p['reserved_bytes'] or odd, at
        assert p['fragmentation_bytes'] in (None, p['reserved_bytes'] - p['peak_bytes']), at
        assert p['peak_unpadded_bytes'] is None or p['peak_unpadded_bytes'] <= p['peak_bytes'] or odd, at
        sums = [sum(layer['bytes'][i] for layer in p['layers']) for i in range(len(p['sample_event']))]
        assert not sums or (max(sums) == p['peak_bytes'] and p['peak_event'] in p['sample_event']), at
        assert p['sample_event'] == sorted(set(p['sample_event'])), at
    spaces = {p['space'] for p in made['memory_static'] or () if p['ran']}
    assert {x['space'] for x in made['memory_programs'] or ()} == spaces
    for x in made['memory_programs'] or ():
        assert 0 <= x['least_bytes'] <= x['most_bytes'], x


# ---- findings ------------------------------------------------------------------------------------


def rank(f):
    """Fired before explained, then what is not; F23 first; above low, causes before symptoms; severity, startup last, impact
    in time, in bytes, the order of claims."""
    status = ['fired', 'explained', 'not_evaluated', 'clear'].index(f['status'])
    if status > 1:
        return 2, 0, 0, 0, 0, 0, 0, 0, 0
    low = f['severity'] == 'low'
    symptom = not low and f['id'] in SYMPTOMS and f['impact']['time_ps'] is not None
    return (status, f['id'] != 'F23', low, symptom, -LEVELS.index(f['severity']), f['id'] == 'F11', -(f['impact']['time_ps'] or 0),
            -(f['impact'].get('bytes') or 0), ORDER.index(f['id']))


SYMPTOMS = ('F12', 'F13', 'F18', 'F28', 'F29')
ABOUT_MEMORY = ('F22', 'F30', 'F31', 'F32', 'F36', 'F37', 'F38', 'F39', 'F40')


def check_finding(f, statuses, partial):
    measured = f['status'] in ('fired', 'explained')
    assert (f['impact']['bytes'] is not None) == (measured and f['id'] in ABOUT_MEMORY), f
    assert f['impact']['bytes'] is None or f['impact']['bytes'] > 0, f
    if f['status'] == 'not_evaluated':
        assert f['missing'] and f['evidence']['value'] is None, f
    else:
        assert not f['missing'], f
    assert (f['severity'] is not None) == measured, f
    if measured:
        assert f['title'] and f['message'] and f['suggestion'], f
        assert '%!' not in f['message'] and 'null' not in f['message'] and 'nan' not in f['message'].split(), f
    if f['status'] == 'explained':
        assert f['explained_by'] and all(statuses[i] in ('fired', 'explained') for i in f['explained_by']), f
        assert f['id'] not in f['explained_by'], f
    for p in f['where']:
        assert (p['start_ps'] is None) == (p['end_ps'] is None), f
        assert p['start_ps'] is None or p['start_ps'] <= p['end_ps'], f
    i = f['impact']
    if i['time_ps'] is not None:
        assert i['time_ps'] <= i['gross_ps'], f
        assert i['window_ps'] is None or i['time_ps'] <= i['window_ps'] or f['id'] in ('F15', 'F16'), f
    if f['status'] == 'fired' and i['share_of_window'] is not None and f['id'] not in ('F17', 'F22', 'F23', 'F24', 'F27', 'F29'):
        level = 2 if i['share_of_window'] >= .1 else 1 if i['share_of_window'] >= .03 else 0
        assert i['share_of_window'] >= .005 or f['id'] in ('F12', 'F28'), f
        assert LEVELS.index(f['severity']) <= (max(level - 1, 0) if partial else level), f


def check_findings(found, partial=False):
    assert sorted(f['id'] for f in found) == sorted(ORDER)
    statuses = {f['id']: f['status'] for f in found}
    for f in found:
        check_finding(f, statuses, partial)
    assert [rank(f) for f in found] == sorted(rank(f) for f in found), [(f['id'], rank(f)) for f in found]


def check(made):
    check_numbers(made)
    for part in (check_devices, check_waterfall, check_gaps, check_idle_labels, check_ops, check_scopes, check_steps,
                 check_communication, check_compile, check_host, check_replays, check_balance, check_memory, check_plans):
        part(made)
    check_findings(made['findings'], made['analysis']['partial'])
