"""The timeline's addresses: every event once, any window, and hostile questions refused."""
import json
import struct

import pytest

from conftest import BIG_EVENTS, Server, events

HOSTS = {'alpha': 1000, 'beta': 10, 'big': BIG_EVENTS}


@pytest.fixture(scope='module')
def api(server, session):
    return lambda what: server.get(f'/api/v1/session/{session}/{what}')


def read(answer):
    assert answer.status == 200, answer.content()
    return json.loads(answer.content())


def window(answer):
    """(header, {(track, row): [(start_ps, dur_ps, kind, index, count)]}, {kind: name}) of slices."""
    b = answer.content()
    magic, version, begin, end, unit, px, sections, records, names, left_out, _ = struct.unpack_from('<4sIqqqIIIIII', b)
    assert (magic, version) == (b'VPTL', 1)
    at, rows, seen = 56 + 24 * sections, {}, 0
    for s in range(sections):
        track, row, _, _, _, n = struct.unpack_from('<6I', b, 56 + 24 * s)
        rows[track, row] = []
        for _ in range(n):
            start, dur, kind, index, count, _ = struct.unpack_from('<6I', b, at)
            rows[track, row].append((begin + start * unit, dur * unit, kind, index, count))
            at, seen = at + 24, seen + 1
    told = {}
    for _ in range(names):
        kind, n = struct.unpack_from('<2I', b, at)
        told[kind] = b[at + 8:at + 8 + n].decode()
        at += 8 + (n + 3) // 4 * 4
    assert (seen, at) == (records, len(b))
    return {'from': begin, 'to': end, 'unit': unit, 'px': px, 'left_out': left_out}, rows, told


@pytest.mark.parametrize('host, n', HOSTS.items())
def test_tracks_hold_all_events(api, host, n):
    t = read(api(f'tracks?host={host}'))
    assert (t['host'], t['events'], t['left_out']) == (host, n, 0)
    track, = [k for g in t['groups'] for k in g['tracks']]
    made = events(n)[2:]
    assert (track['name'], track['events'], track['rows']) == ('XLA Ops', n, 1)
    assert track['dur_ps'] == sum(e['dur'] for e in made) * 1_000_000
    assert (t['from_ps'], t['to_ps']) == (0, (made[-1]['ts'] + made[-1]['dur']) * 1_000_000)
    assert n <= 1000 or t['index_bytes'] <= 50 * n


@pytest.mark.parametrize('px', [1, 100, 1000, 16384])
@pytest.mark.parametrize('host, n', HOSTS.items())
def test_every_event_is_in_a_window_of_all(api, host, n, px):
    head, rows, _ = window(api(f'slices?host={host}&px={px}'))
    assert sum(r[4] for row in rows.values() for r in row) == n
    assert head['px'] == px
    assert all(len(row) <= 2 * px + 4 for row in rows.values())


def test_a_small_window_has_its_slices_exactly(api):
    head, rows, names = window(api('slices?host=big&from=1000000000&to=1000050000&px=1000'))
    assert head['unit'] == 1 and not rows[0, 0][1:]
    assert rows[0, 0] == [(1_000_000_000, 50_000, rows[0, 0][0][2], 100, 1)]  # cut at the window's end
    assert names == {rows[0, 0][0][2]: 'fusion.1'}
    assert window(api('slices?host=big&from=1007000000&to=1010000000'))[1] == {(0, 0): []}  # between two


@pytest.mark.parametrize('query, status', [
    ('slices?px=0', 400), ('slices?px=-1', 400), ('slices?px=1000000', 400), ('slices?px=x', 400),
    ('slices?tracks=0-999999', 400), ('slices?tracks=' + ','.join(['0'] * 1900), 200), ('slices?tracks=7', 404),
    ('slices?tracks=0-', 400), ('slices?tracks=0,', 200), ('slices?tracks=0:x', 400), ('slices?tracks=1-0', 400),
    ('slices?tracks=99999999999999999999', 400), ('slices?tracks=0:0', 200),
    ('slices?from=5&to=5', 400), ('slices?from=9223372036854775807', 400), ('slices?from=1e6', 400),
    ('slices?from=-2000000000000000000&to=2000000000000000000', 200), ('slices?from=900000000000&to=900000000001', 200),
    ('slices?host=none', 404), ('tracks?host=none', 404), ('event', 400), ('event?id=0.0', 400), ('event?id=0.0.0.0', 404),
    ('event?id=0.0.1000', 404), ('event?id=1.0.0', 404), ('event?id=0.0.99999999999', 400), ('search', 400), ('search?q=', 400),
    (f'search?q={"x" * 201}', 400), ('search?q=a&after=x', 400), ('range?track=9', 404), ('range?track=x', 404)])
def test_questions_that_have_no_answer(api, query, status):
    answer = api(query)
    assert answer.status == status
    assert status == 200 or json.loads(answer.content())['error']


def test_a_window_of_too_many_cells_says_how_many_it_has(api):
    head, rows, _ = window(api(f'slices?host=beta&px=16384&tracks={",".join(["0"] * 1900)}'))
    assert head['px'] * 1900 <= 1_000_000
    assert not head['left_out']


def test_an_origin_is_text(api):
    """An epoch in nanoseconds is above what a browser's numbers hold."""
    assert isinstance(read(api('tracks?host=alpha'))['file_origin_ns'], str)


def test_an_event_and_its_op(api):
    e = read(api('event?host=alpha&id=0.0.9'))
    assert (e['name'], e['start_ps'], e['dur_ps'], e['track_name']) == ('fusion.0', 90_000_000, 7_000_000, 'XLA Ops')
    assert e['calls_of_kind'] == sum(x['name'] == 'fusion.0' for x in events(1000)[2:])
    read(api('marks?host=alpha'))  # with the report


def test_search_goes_from_hit_to_hit(api):
    first = read(api('search?host=alpha&q=FUSION.3'))
    assert first['total'] == 111 and first['found']['id'] == '0.0.3'
    second = read(api('search?host=alpha&q=fusion.3&after=0.0.3'))
    assert second['found']['id'] == '0.0.12'
    assert read(api('search?host=alpha&q=fusion.3&before=0.0.12'))['found']['id'] == '0.0.3'
    assert read(api('search?host=alpha&q=fusion.3&before=0.0.3'))['found'] is None
    assert read(api('search?host=alpha&q=nothing')) == {'total': 0, 'found': None}


def test_a_search_backwards_begins_anywhere(api):
    last = max(i for i in range(1000) if i % 9 == 3)
    assert read(api(f'search?host=alpha&q=fusion.3&before={2**61}'))['found']['id'] == f'0.0.{last}'
    assert read(api('search?host=alpha&q=fusion.3&before=30000001'))['found']['id'] == '0.0.3'
    assert read(api('search?host=alpha&q=fusion.3&before=30000000'))['found'] is None
    assert api('search?host=alpha&q=fusion.3&before=9223372036854775807').status == 400


def test_a_search_from_beyond_the_end_finds_nothing_and_counts(api):
    assert read(api('search?host=alpha&q=fusion.3&from=900000000000')) == {'total': 111, 'found': None}


def test_an_event_without_length_at_the_end_is_in_the_window(tmp_path):
    trace = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur, 'name': 'a'} for ts, dur in [(0, 7), (10, 0)]]
    (tmp_path / 'end.trace.json').write_text(json.dumps({'traceEvents': trace}))
    s = Server(tmp_path)
    path = f'/api/v1/session/{s.sessions()[0]["id"]}'
    assert sum(r[4] for row in window(s.get(f'{path}/slices'))[1].values() for r in row) == 2
    assert read(s.get(f'{path}/range'))['events'] == 2
    s.stop()


def test_a_range_is_cut_at_both_ends(api):
    r = read(api('range?host=alpha&from=5000000&to=22000000'))
    assert (r['events'], r['busy_ps']) == (3, 2_000_000 + 7_000_000 + 2_000_000)
    assert sum(x['self_ps'] for x in r['rows']) == r['busy_ps']
    row, = r['rows']
    assert (row['name'], row['names'], row['calls'], row['of_ps']) == ('fusion', 3, 3, r['busy_ps'])


def test_a_range_is_covered_once(tmp_path):
    """However many of a track's events lie over each other, and without tracks that hold none."""
    x = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': 60, 'name': 'a'} for ts in (0, 20, 40, 150)]
    empty = [{'ph': 'M', 'pid': 1, 'tid': 2, 'name': 'thread_name', 'args': {'name': 'idle'}}]
    (tmp_path / 'crossing.trace.json').write_text(json.dumps({'traceEvents': x + empty}))
    s = Server(tmp_path)
    r = read(s.get(f'/api/v1/session/{s.sessions()[0]["id"]}/range?from=0&to=200000000'))
    s.stop()
    assert (r['tracks'], r['busy_ps'], r['covered_ps']) == (1, 230_000_000, 150_000_000)


def test_times_above_what_a_double_holds_are_told_exactly(tmp_path):
    start = 2**53 + 1
    ts = f'{start // 10**6}.{start % 10**6:06}'
    (tmp_path / 'late.trace.json').write_text(
        '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"a"},'
        f'{{"ph":"X","pid":1,"tid":1,"ts":{ts},"dur":{ts},"name":"b"}}]}}')
    s = Server(tmp_path)
    e = read(s.get(f'/api/v1/session/{s.sessions()[0]["id"]}/event?id=0.0.1'))
    s.stop()
    assert (e['exact_start_ps'], e['exact_dur_ps'], e['start_ps']) == (str(start), str(start), start)


def test_a_question_for_a_million_tracks_is_bounded(tmp_path):
    trace = [{'ph': 'X', 'pid': 1, 'tid': i, 'ts': i, 'dur': 1, 'name': 'a'} for i in range(6000)]
    (tmp_path / 'many.trace.json').write_text(json.dumps({'traceEvents': trace}))
    s = Server(tmp_path)
    path = f'/api/v1/session/{s.sessions()[0]["id"]}/slices'
    for tracks in ('0-999999', '0-4294967295', '0-4096', '0-4095,7', ','.join(['0-4095'] * 10), '0-4090:1,0-9:1'):
        assert s.get(f'{path}?tracks={tracks}').status == 400, tracks[:40]
    million = s.get(f'{path}?tracks={",".join(map(str, range(1_000_000)))}')
    assert million.status in (0, 400, 414, 431)  # 0: refused before all of it was sent
    for rest in ('', '?tracks=0-4095', '?tracks=0-4095:4294967295&px=16384'):
        head, rows, _ = window(s.get(path + rest))
        assert len(rows) == 4096 and head['px'] * len(rows) <= 1_000_000
    assert window(s.get(f'{path}?tracks=5999'))[1].keys() == {(5999, 0)}
    s.stop()


def test_a_session_without_events_says_so(tmp_path):
    (tmp_path / 'empty.trace.json').write_text('{"traceEvents":[]}')
    (tmp_path / 'point.trace.json').write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":-5,"dur":0,"name":"\\u0000<b>"}]}')
    s = Server(tmp_path)
    ids = {x['name']: x['id'] for x in s.sessions()}
    answer = s.get(f'/api/v1/session/{ids["empty.trace.json"]}/tracks')
    assert answer.status == 422 and 'no trace events' in json.loads(answer.content())['error']
    assert s.get(f'/session/{ids["empty.trace.json"]}/timeline').status == 200
    assert sum(r[4] for row in window(s.get(f'/api/v1/session/{ids["point.trace.json"]}/slices'))[1].values() for r in row) == 1
    s.stop()


def test_tracks_of_groups_beyond_those_told_are_counted(tmp_path):
    trace = [{'ph': 'X', 'pid': i % 1100, 'tid': i // 1100, 'ts': i, 'dur': 1, 'name': 'a'} for i in range(2200)]
    (tmp_path / 'many.trace.json').write_text(json.dumps({'traceEvents': trace}))
    s = Server(tmp_path)
    t = read(s.get(f'/api/v1/session/{s.sessions()[0]["id"]}/tracks'))
    s.stop()
    told = [k for g in t['groups'] for k in g['tracks']]
    assert (len(t['groups']), len(told), t['tracks_left_out']) == (1000, 2000, 200)
    assert sorted(k['id'] for k in told) == sorted({k['id'] for k in told}) and all(k['events'] == 1 for k in told)


def test_the_page(server, session):
    assert server.get(f'/session/{session}/timeline').status == 200
    assert server.get(f'/session/{session}/timeline?host=beta').status == 200
    assert server.get(f'/session/{session}/timeline?host=none').status == 404
    assert server.get('/session/none/timeline').status == 404
