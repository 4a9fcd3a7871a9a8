"""Tracks that hold spans which run at once: requests, async work. Every one of them counts with its true
length; self time is still the latest started's, so that it adds up to the track's busy time."""
import json
import os
import random

from common import view_profile

US = 10**6


def report(path):
    return json.loads(view_profile('report', '--format=json', str(path)).stdout)


def checked(path, spans):
    """spans: {name: [(start, end) in us]}, all of one track."""
    made = report(path)
    ops = {o['name']: o for o in made['ops']}
    for name, times in spans.items():
        lengths = sorted((b - a) * US for a, b in times)
        o = ops[name]
        assert (o['calls'], o['total_ps'], o['max_ps']) == (len(times), sum(lengths), lengths[-1])
        assert o['p50_ps'] == lengths[(len(lengths) + 1) // 2 - 1]
        assert abs(o['mean_ps'] - sum(lengths) / len(lengths)) <= 1
    busy, end = 0, -1
    for a, b in sorted(t for times in spans.values() for t in times):
        busy += max(0, b - max(a, end))
        end = max(end, b)
    assert sum(o['self_ps'] for o in made['ops']) == busy * US
    assert made['devices'][0]['breakdown']['busy_ps'] == busy * US


def requests(n, seed=3):
    """A server under load: one begins before the last has ended, long ones hold short ones."""
    draw, out, at = random.Random(seed), {'get': [], 'put': []}, 0
    for _ in range(n):
        at += draw.randint(3, 60)
        out[draw.choice(['get', 'put'])].append((at, at + draw.choice([20, 40, 700, 2000])))
    return out


def test_spans_as_complete_events(tmp_path):
    spans = requests(400)
    events = [{'ph': 'X', 'name': n, 'pid': 1, 'tid': 1, 'ts': a, 'dur': b - a} for n in spans for a, b in spans[n]]
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    checked(tmp_path / 'a.trace.json', spans)


def test_async_events(tmp_path):
    """b and e; also where none of them crosses another: that they are async is enough."""
    for i, spans in enumerate([requests(400), {'get': [(0, 100), (10, 20), (30, 90), (40, 50)]}]):
        events = []
        for name, times in spans.items():
            for k, (a, b) in enumerate(times):
                common = {'cat': 'rpc', 'name': name, 'id': f'{name}{k}', 'pid': 1, 'tid': 1}
                events += [{'ph': 'b', 'ts': a, **common}, {'ph': 'e', 'ts': b, **common}]
        path = tmp_path / f'{i}.trace.json'
        path.write_text(json.dumps({'traceEvents': sorted(events, key=lambda e: e['ts'])}))
        checked(path, spans)


def test_recursion_is_still_one_call(tmp_path):
    """f within f within f, thrice: the outermost three are the time spent in f."""
    times = [(a + k, a + 50 - k) for a in (0, 50, 100) for k in range(3)]
    events = [{'ph': 'X', 'name': 'f', 'pid': 1, 'tid': 1, 'ts': a, 'dur': b - a} for a, b in times]
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    (op,) = report(tmp_path / 'a.trace.json')['ops']
    assert (op['calls'], op['total_ps'], op['self_ps']) == (9, 150 * US, 150 * US)


def test_the_mean_of_a_recursion_is_of_its_outermost_calls(tmp_path):
    """The time of a call is that of all that it calls; what it spends in itself again is none of a second one."""
    events, lengths = [], []
    for i in range(10):
        base, outer = i * 1000, 300 + 10 * i
        lengths.append(outer)
        for k in range(5):
            events.append({'ph': 'X', 'name': 'solve', 'pid': 1, 'tid': 1, 'ts': base + k, 'dur': outer - 2 * k})
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    (op,) = report(tmp_path / 'a.trace.json')['ops']
    assert (op['calls'], op['inner_calls']) == (50, 40)
    assert op['mean_ps'] == sum(lengths) * US // 10
    again = tmp_path / 'r.json'
    again.write_text(view_profile('report', '--format=json', str(tmp_path / 'a.trace.json')).stdout)
    (merged,) = json.loads(view_profile('merge', '--format=json', str(again)).stdout)['ops']
    assert (merged['inner_calls'], merged['mean_ps']) == (40, op['mean_ps'])
    (row,) = [line.split() for line in view_profile('top', str(tmp_path / 'a.trace.json'), env={**os.environ, 'COLUMNS': '200'})
              .stdout.splitlines() if line.endswith(' solve')]
    assert row[3:5] == ['50', '345.00']
