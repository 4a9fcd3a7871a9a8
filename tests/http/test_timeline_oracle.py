"""Windows and sums of random timelines beside a second reckoning of them, which knows nothing of how the index is made: the
visibility rule (a slice that is a pixel long is shown, shorter ones where they are the first on their level in a pixel), what
lies in a range by name, and how much of it is covered."""
import collections
import json
import random

import pytest

from conftest import Server
from test_timeline import read, window

END_NS = 16384  # as many as a window has pixels at most: there every event is shown by itself


def nested(dice, begin, end, level):
    """[(start, dur)] of ns that lie in each other, starts apart."""
    out, at = [], begin
    while at + 2 < end and len(out) < 400:
        at += dice.choice([0, 1, 1, 2, 5, 40])
        dur = min(end - at, dice.choice([1, 1, 2, 3, 9, 60, 700]))
        if dur < 1:
            break
        out.append((at, dur))
        if level and dur > 4:
            out += nested(dice, at + 1, at + dur, level - 1)
        at += dur
    return out


def make(seed):
    """{tid: [(start, dur)]}: nested; of many lanes; of more than there are lanes. Starts of a thread differ."""
    dice = random.Random(seed)
    crossing = [(s, 1 + dice.randrange(300)) for s in dice.sample(range(END_NS - 400), 300)]
    heap = [(s, 6000 + dice.randrange(9)) for s in dice.sample(range(4000), 400)]
    return {1: nested(dice, 0, END_NS, 4), 2: crossing, 3: heap}


class Timeline:
    def __init__(self, where, seed):
        self.dice = random.Random(seed)
        self.made = make(seed)
        name = lambda: f'n{self.dice.randrange(12)}'
        self.name = {(tid, e): name() for tid, events in self.made.items() for e in events}
        events = [{'ph': 'X', 'pid': 1, 'tid': tid, 'name': self.name[tid, e], 'ts': e[0] / 1000, 'dur': e[1] / 1000}
                  for tid, some in self.made.items() for e in some]
        self.dice.shuffle(events)
        (where / 'random.trace.json').write_text(json.dumps({'traceEvents': events}))
        self.server = Server(where)
        self.path = f'/api/v1/session/{self.server.sessions()[0]["id"]}'
        self.tid = {k['id']: k['tid'] for g in read(self.get('tracks'))['groups'] for k in g['tracks']}
        self.rows = self.all_rows()

    def get(self, what):
        return self.server.get(f'{self.path}/{what}')

    def all_rows(self):
        """{(track, row): [(start_ps, dur_ps)]}, each event by itself."""
        out = {}
        for track in self.tid:
            for first in range(0, 300, 60):  # a window has a million cells
                head, rows, _ = window(self.get(f'slices?from=0&to={END_NS * 1000}&px={END_NS}&tracks={track}:60@{first}'))
                assert head['px'] == END_NS and all(r[4] == 1 for row in rows.values() for r in row)
                out |= {key: [r[:2] for r in row] for key, row in rows.items()}
        return out


@pytest.fixture(scope='module', params=range(4))
def timeline(request, tmp_path_factory):
    t = Timeline(tmp_path_factory.mktemp('random'), request.param)
    yield t
    t.server.stop()


def overlaps(row):
    return any(a[0] + a[1] > b[0] for a, b in zip(row, row[1:]))


def test_every_event_has_its_row(timeline):
    found = collections.defaultdict(list)
    for (track, _), row in timeline.rows.items():
        assert row == sorted(row)
        found[timeline.tid[track]] += [(s // 1000, d // 1000) for s, d in row]
    assert {tid: sorted(some) for tid, some in found.items()} == {tid: sorted(some) for tid, some in timeline.made.items()}
    assert sum(overlaps(row) for row in timeline.rows.values()) == 1  # of the third thread, the last


def records(row, begin, end, pixel):
    """What is to be told of a row: (start, dur, index, count)."""
    out, group = [], None
    for i, (start, dur) in enumerate(row):
        if start + dur <= begin and start < begin or start >= end:
            continue
        if dur >= pixel:
            out.append([start, start + dur, i, 1])
            group = None
        elif group == start // pixel:
            out[-1][1], out[-1][3] = start + dur, out[-1][3] + 1
        else:
            out.append([start, start + dur, i, 1])
            group = start // pixel
    cut = lambda ps: min(max(ps, begin), end)
    return [(cut(s), cut(e) - cut(s), i, n) for s, e, i, n in out]


def windows_of(dice):
    yield 0, END_NS * 1000
    yield -5_000_000, 3 * END_NS * 1000
    for _ in range(12):
        begin = dice.randrange(END_NS * 1000)
        yield begin, begin + 1 + dice.randrange(10 ** dice.randint(1, 7))


@pytest.mark.parametrize('px', [1, 2, 30, 1000, 16384])
def test_windows_show_what_the_rule_says(timeline, px):
    for begin, end in windows_of(timeline.dice):
        head, rows, _ = window(timeline.get(f'slices?from={begin}&to={end}&px={px}'))
        pixel = (end - begin - 1) // head['px'] + 1
        assert head['unit'] == 1 and head['px'] == min(px, 1_000_000 // len(rows))
        for key, row in timeline.rows.items():
            if not overlaps(row):
                assert [(r[0], r[1], r[3], r[4]) for r in rows[key]] == records(row, begin, end, pixel), (key, begin, end)
            else:
                assert sum(r[4] for r in rows[key]) == sum(s + d > begin and s < end for s, d in row), (key, begin, end)


def test_some_rows_are_those_of_all(timeline):
    track = next(t for t, tid in timeline.tid.items() if tid == 2)
    mine = {key: row for key, row in timeline.rows.items() if key[0] == track}
    assert len(mine) > 8
    for query, seen in ((f'{track}:3', range(3)), (f'{track}:3@4', range(4, 7)), (f'{track}@5', range(5, len(mine))),
                        (f'{track}:9@{len(mine) - 2}', range(len(mine) - 2, len(mine))), (f'{track}:9@5000', ()),
                        (f'{track}:2@4294967295', ()), (f'{track}:1,{track}:1@3', (0, 3))):
        _, rows, _ = window(timeline.get(f'slices?from=0&to={END_NS * 1000}&px={END_NS}&tracks={query}'))
        assert {key: [r[:2] for r in row] for key, row in rows.items()} == {(track, r): mine[track, r] for r in seen}, query


def sums(timeline, begin, end):
    """({name: [calls, total, self]}, covered, events) in ps."""
    by_name, covered, events = collections.defaultdict(lambda: [0, 0, 0]), 0, 0
    for tid, some in timeline.made.items():
        reached = begin
        for start, dur in sorted(some):
            first, last = max(start * 1000, begin), min((start + dur) * 1000, end)
            if start * 1000 >= end or first >= last:
                continue
            row = by_name[timeline.name[tid, (start, dur)]]
            row[0], row[1], events = row[0] + 1, row[1] + last - first, events + 1
            covered += max(0, last - max(first, reached))
            reached = max(reached, last)
    return by_name, covered, events


def test_ranges_add_up(timeline):
    for begin, end in windows_of(timeline.dice):
        r = read(timeline.get(f'range?from={begin}&to={end}'))
        by_name, covered, events = sums(timeline, begin, end)
        assert {x['name']: [x['calls'], x['total_ps']] for x in r['rows']} == {k: v[:2] for k, v in by_name.items()}
        assert (r['events'], r['covered_ps'], r['tracks']) == (events, covered, 3)
        assert r['covered_ps'] <= 3 * (end - begin)
        assert sum(x['self_ps'] for x in r['rows']) == r['busy_ps']


def test_self_time_is_without_what_lies_inside(timeline):
    """Of the thread of nested events, by stacking them up."""
    track = next(t for t, tid in timeline.tid.items() if tid == 1)
    expected, stack = collections.Counter(), []
    for start, dur in sorted(timeline.made[1], key=lambda e: (e[0], -e[1])):
        while stack and stack[-1][0] <= start:
            stack.pop()
        name = timeline.name[1, (start, dur)]
        expected[name] += dur * 1000
        if stack:
            expected[stack[-1][1]] -= dur * 1000
        stack.append((start + dur, name))
    r = read(timeline.get(f'range?track={track}'))
    assert {x['name']: x['self_ps'] for x in r['rows']} == dict(expected)


PARTS = ['', '0', '-1', '3', '0-3', '3-0', ':', '@', '0:', '0@', '0:1@2', '0@2:1', '0:-1', '99999999999999999999', '0:4294967296', ',', ',,',
         '0,', '1e9', '%00', '%ff', '0.0.0', '0.0', 'null', 'NaN', ' ', '+1', '0x1', '9223372036854775808', '-9223372036854775809',
         '2305843009213693952', '-2305843009213693952', 'a' * 300, '%F0%9F%98%80', '..', '0-1000000', '0-4095', '&', '=', '#', '%', '%zz']


def test_any_query_is_answered_or_refused(timeline):
    """Never a failure of the server's own, nor a connection that breaks."""
    dice = random.Random(5)
    keys = {'slices': ['px', 'from', 'to', 'tracks', 'host', 'analysis'], 'range': ['from', 'to', 'track', 'host'],
            'search': ['q', 'from', 'after', 'before'], 'event': ['id', 'host'], 'tracks': ['host'], 'marks': ['host']}
    seen = collections.Counter()
    for _ in range(1500):
        what = dice.choice(list(keys))
        query = '&'.join(f'{dice.choice(keys[what])}={"".join(dice.choices(PARTS, k=dice.choice([1, 1, 1, 2, 4])))}'
                         for _ in range(dice.randrange(4)))
        answer = timeline.get(f'{what}?{query.replace(" ", "+").replace("#", "%23")}')
        assert answer.status in (200, 400, 404, 414, 422), f'{what}?{query}: {answer.status}'
        assert answer.content(), query
        seen[answer.status] += 1
    assert seen[200] > 100 and seen[400] > 100, seen
