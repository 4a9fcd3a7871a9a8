"""What is bad to read goes out whole, in both forms and with the tracks of the analysis: names of every kind, ends before
their starts, thousands that overlap, ids that Perfetto takes for others, no event at all. By Perfetto's own engine."""
import json

import pytest
from common import PROGRAM, run, tool
from every_timeline import of_engine
from pftrace_decode import Trace
from real_perfetto import checked, needs_perfetto
from test_xplane_perfetto import hostile
from xplane_events import Space

NAMES = ['"', 'back\\', 'nul\0nul', 'x' * 150_000, '\ud83d', '<script>', '']


def json_events():
    events = [{'ph': 'X', 'pid': 1 << 40, 'tid': (1 << 33) + 7, 'ts': 3 * i - 50, 'dur': 4, 'name': name}
              for i, name in enumerate(NAMES)]
    events += [{'ph': 'X', 'pid': 0, 'tid': 0, 'ts': 10 + i, 'dur': 4000, 'name': 'crossing'} for i in range(4000)]
    events += [{'ph': 'X', 'pid': 5, 'tid': 5, 'ts': 100, 'dur': -7, 'name': 'backwards'},
               {'ph': 'X', 'pid': 5, 'tid': '5', 'ts': 100, 'dur': 10, 'name': 'parent'},
               {'ph': 'X', 'pid': 5, 'tid': '5', 'ts': 105, 'dur': 5.001, 'name': 'child, a ns longer'}]
    return events


def odd_order():
    """Flows that stand before their slice of the same moment, ends that say more than their begins, an instant of no process."""
    def x(tid, ts, dur):
        return {'ph': 'X', 'name': 'x', 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur}

    def flow(ph, i, tid, ts):
        return {'ph': ph, 'name': 'f', 'cat': 'c', 'id': i, 'pid': 1, 'tid': tid, 'ts': ts, 'bp': 'e'}

    yield from (x(1, 1, 5), flow('s', 1, 1, 2), flow('f', 1, 2, 20), x(2, 20, 0))
    yield from (flow('s', 2, 1, 3), flow('t', 2, 3, 20), {'ph': 'B', 'name': 'b', 'pid': 1, 'tid': 3, 'ts': 20},
                {'ph': 'E', 'name': 'b', 'pid': 1, 'tid': 3, 'ts': 25})
    yield from (flow('s', 3, 1, 4), flow('f', 3, 4, 20.01), x(4, 20.0095, 0.0004))
    yield from ({'ph': 'B', 'name': 'a', 'pid': 1, 'tid': 5, 'ts': 3}, x(5, 3, 4),
                {'ph': 'E', 'cat': 'k', 'pid': 1, 'tid': 5, 'ts': 5, 'args': {'why': 1}}, x(5, 8, 0))
    yield from ({'ph': 'B', 'pid': 1, 'tid': 6, 'ts': 3}, {'ph': 'E', 'name': 'a', 'pid': 1, 'tid': 6, 'ts': 5})
    yield flow('f', 4, 2, 15) | {'bp': 'no'}  # nothing leads to it
    yield {'ph': 'i', 'name': 'x', 's': 'p', 'ts': 7}


def files(folder):
    """(file, how many slices)"""
    (folder / 'odd.trace.json').write_text(json.dumps({'traceEvents': list(odd_order())}))
    yield folder / 'odd.trace.json', 10  # 5 complete, 3 pairs, the instant, and the arguments of an end that is none of the importer's
    (folder / 'h.xplane.pb').write_bytes(hostile())
    yield folder / 'h.xplane.pb', sum(len(line.raw) for _, line in Space(hostile()).lines())
    (folder / 'h.trace.json').write_text(json.dumps({'traceEvents': json_events()}))
    yield folder / 'h.trace.json', len(json_events())
    (folder / 'none.trace.json').write_text('{"traceEvents": []}')
    yield folder / 'none.trace.json', 0


LONG = 3 << 20  # characters, of three bytes each


def test_long_names_of_tracks_are_cut_at_a_character(tmp_path):
    """Never the file."""
    name, at = '\u20ac' * LONG, {'pid': 1, 'tid': 1, 'ts': 1}
    events = [{'ph': 'M', 'name': 'process_name', 'args': {'name': name}} | at,
              {'ph': 'M', 'name': 'process_labels', 'args': {'labels': name}} | at,
              {'ph': 'M', 'name': 'thread_name', 'args': {'name': name}} | at,
              {'ph': 'X', 'name': 'a', 'dur': 5} | at, {'ph': 'X', 'name': 'crossing', 'dur': 5} | at | {'ts': 3},
              {'ph': 'C', 'name': name, 'args': {'v': 1}} | at,
              {'ph': 'b', 'name': name, 'id': 1, 'cat': 'c'} | at, {'ph': 'e', 'name': name, 'id': 1, 'cat': 'c'} | at | {'ts': 2}]
    (tmp_path / 'long.trace.json').write_text(json.dumps(events, ensure_ascii=False))
    trace = Trace(run(tool('export_tool'), 'pftrace-json', tmp_path / 'long.trace.json')[0])
    named = [t for t in trace.tracks.values() if t.name.startswith('\u20ac')]
    assert len(named) == 5 and any(t.label.startswith('\u20ac') for t in named)
    for t in named:
        assert '\ufffd' not in t.name and len(t.name.encode()) < 257 << 10 and ' (truncated, ' in t.name
    assert sorted(s.name[0] for s in trace.slices) == ['a', 'c', '\u20ac'] and len(trace.counters) == 1


@pytest.mark.slow
def test_more_async_ids_than_tracks_are_counted(tmp_path):
    """A track for each of the first million, and the file comes out."""
    most, more = 1_000_000, 37
    halves = ',\n'.join('{"ph":"n","ts":%d,"pid":1,"id":%d,"name":"n","cat":"c"}' % (i, i) for i in range(most + more))
    (tmp_path / 'many.trace.json').write_text('[' + halves + ']')
    made = run(tool('export_tool'), 'pftrace-json', tmp_path / 'many.trace.json')[0]
    assert b'{"events":%d,"flows":0}' % more in made


@pytest.mark.slow
@pytest.mark.parametrize('key', [b'k', b'\\"'])
def test_a_key_of_any_length_costs_its_value_only(key, tmp_path):
    event = b'{"ph":"X","ts":%d,"dur":1,"pid":1,"tid":1,"name":"a"}'
    huge = b'"' + key * (17 << 20) + b'" : [{"traceEvents":[]}, 1]'
    (tmp_path / 'key.trace.json').write_bytes(b'{' + huge + b', "traceEvents":[' + event % 1 + b'],' + huge + b'}')
    for how in ('whole', 'pftrace-json'):
        made, said = run(tool('export_tool'), how, tmp_path / 'key.trace.json')
        assert len(made) < 1000 and b'"damage":0' in said
    assert len(json.loads(run(tool('export_tool'), 'whole', tmp_path / 'key.trace.json')[0])['traceEvents']) == 1


@needs_perfetto
@pytest.mark.parametrize('form', ['perfetto-json', 'pftrace'])
def test_they_are_taken_whole(form, tmp_path):
    want = dict(files(tmp_path))
    made = []
    for path in want:
        made.append(path.with_suffix('.' + form))
        run(PROGRAM, 'export', '--to', form, '-o', made[-1], path)
        assert made[-1].read_bytes().strip() not in (b'', b'[]')
    rows = checked(made, '--tracks', '--sql', 'select count(*) as n from flow')
    for row, (path, slices) in zip(rows, want.items()):
        assert not row.get('fatal') and not row['bad'], (path, row['bad'], row.get('fatal'))
        assert sum(n for n, _ in of_engine(row, {})[0].values()) == slices, path
    odd = dict(zip(want, rows))
    assert odd[tmp_path / 'odd.trace.json']['rows'][0]['n'] == (3 if form == 'perfetto-json' else 2)  # a .pftrace has no arrow to b
