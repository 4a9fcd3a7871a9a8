"""The real Perfetto takes every timeline that we make of an xplane: no row of `stats` that its UI
would show as an error, and of every thread as many slices as the file has, as long in sum
(docs/reference/perfetto.md#import-errors). The arithmetic of it is held without Perfetto by
test_xplane_json.py."""
import collections
import functools
import json

import pytest
from common import report, run, tool
from gen import wire
from perfetto_rules import check, check_tracks
from real_perfetto import checked, needs_perfetto
from test_xplane_json import XPLANES, Timeline, ours, parsed, relative, source
from xplane_events import Space, flows, memory

# Of threads, and of what is async: those of no thread.
SLICES = """select p.pid, t.tid, count(*) n, sum(s.dur) dur from slice s join thread_track k on k.id = s.track_id
    join thread t using (utid) join process p using (upid) group by 1, 2
    union all select p.pid, null, count(*) n, sum(s.dur) dur from slice s join process_track k on k.id = s.track_id
    join process p using (upid) group by 1"""


@pytest.fixture(scope='module')
def taken(tmp_path_factory):
    """What the engine says of each, of one process: to start one takes as long as to read ten of these files."""
    folder, files = tmp_path_factory.mktemp('taken'), {}
    for i, xplane in enumerate(XPLANES):
        files[xplane] = folder / f'{i}.json'
        files[xplane].write_bytes(ours(xplane)[0])
    return dict(zip(files, checked(files.values(), '--sql', SLICES)))


def sums(space):
    """(process, order of the thread) → [slices, ns], and of what is async: (process, None)."""
    found = collections.defaultdict(lambda: [0, 0])
    for plane, line in space.lines():
        for _, start, end, _ in line.shown(space.base):
            place = found[plane.name, None if line.is_async else line.sort]
            place[0] += 1
            place[1] += end - start
    return dict(found)


@needs_perfetto
@pytest.mark.parametrize('xplane', XPLANES, ids=relative)
def test_every_event_is_a_slice(xplane, taken):
    row = taken[xplane]
    assert not row.get('fatal') and not row['bad']
    timeline, space = Timeline(parsed(ours(xplane)[0])), source(xplane)
    got = collections.defaultdict(lambda: [0, 0])
    for part in row['rows']:
        thread = part['tid'] is not None
        place = timeline.place((part['pid'], part['tid'])) if thread else (timeline.process[part['pid']], None)
        got[place][0] += int(part['n'])
        got[place][1] += int(part['dur'])
    assert got == sums(space)
    # an arrow cannot go back in time
    forward = [1 for begin, end in flows(space) if begin[1] <= end[1]]
    assert [row[k] for k in ('slices', 'flows', 'counters')] == [sum(n for n, _ in got.values()), len(forward), len(memory(space))]


def event(meta, start_ns, dur_ns):
    return wire.number(1, meta) + wire.number(2, start_ns * 1000) + wire.number(3, dur_ns * 1000)


def line(ident, name, events):
    return wire.number(1, ident) + wire.bytes_(2, name) + b''.join(wire.bytes_(4, e) for e in events)


def plane(ident, name, metas, lines):
    out = wire.number(1, ident) + wire.bytes_(2, name) + b''.join(wire.bytes_(3, one) for one in lines)
    for i, meta in enumerate(metas, 1):
        out += wire.bytes_(4, wire.number(1, i) + wire.bytes_(2, wire.number(1, i) + wire.bytes_(2, meta)))
    return wire.bytes_(1, out)


NAMES = [b'op', b'"quoted"', b'back\\', b'\\', b'', b'\xff\xfe', b'nul\0nul', b'new\nline\x01', 'ü 語 🎉'.encode(), b'\\u0041',
         b'\xed\xa0\x80', b'x' * 150_000]


@functools.lru_cache(maxsize=None)
def hostile():
    """Every name, everything that overlaps, ids that Perfetto takes for others, and no order anywhere."""
    deep = [event(1, i, 4000 - 2 * i) for i in range(2000)]
    crossing = [event(1 + i % 3, 4000 - i, 4000) for i in range(4000)]
    names = [event(i, 10 * i, 0 if i % 2 else 5) for i in range(1, len(NAMES) + 2)]
    backwards = [wire.number(1, 1) + wire.number(2, 7_000_000) + wire.number(3, -5000), b'']
    lines = [line(701, b'main', names), line(0, b'zero', backwards), line((1 << 32) + 5, b'high', deep[:1]),
             line(5, b'"\\', crossing), line(5, b'"\\', deep), line(-1, b'', deep[::-1])]
    ops = [event(1, i * 3, 5) for i in range(100)]
    return (plane(0, b'/host:CPU', NAMES, lines)
            + plane(2, b'/device:TPU:0', NAMES, [line(3, b'XLA Ops', ops), line(4, b'Async XLA Ops', crossing)])
            + plane(2, b'/device:TPU:1', NAMES, [line(3, b'XLA Ops', ops[::-1])]))


def test_siblings_of_an_op_line_are_op_lines(tmp_path):
    """For our own reader, too: what overlaps on a stream is summed wherever its timeline shows it."""
    xplane, ours_of_it = tmp_path / 'o.xplane.pb', tmp_path / 'o.trace.json'
    ops = [event(1, i * 3, 5) for i in range(100)]
    xplane.write_bytes(plane(2, b'/device:TPU:0', [b'%op = f32[] add(f32[] %x)'], [line(3, b'XLA Ops', ops)])
                       + plane(0, b'/host:CPU', [b'call'], [line(9, b'main', [event(1, 0, 400)])]))
    text, _ = run(tool('export_tool'), 'xspace', xplane)
    assert b'"TPU:0 XLA Ops (2)"' in text
    ours_of_it.write_bytes(text)
    want, got = ([(o['name'], o['calls'], o['total_ps']) for o in report(p)['ops']] for p in (xplane, ours_of_it))
    assert want == got and want[0][1:] == (100, 500_000)


def test_a_hostile_file_keeps_the_rules(tmp_path):
    path = tmp_path / 'h.xplane.pb'
    path.write_bytes(hostile())
    text, err = run(tool('export_tool'), 'xspace', path)
    assert json.loads(err)['damage'] == 0
    check(text)
    events = parsed(text)
    check_tracks(events)
    assert sum(e['ph'] in 'Xb' for e in events) == sum(len(one.raw) for _, one in Space(hostile()).lines())


@needs_perfetto
def test_a_hostile_file_imports(tmp_path):
    path = tmp_path / 'h.xplane.pb'
    path.write_bytes(hostile())
    (tmp_path / 't.json').write_bytes(run(tool('export_tool'), 'xspace', path)[0])
    row, = checked([tmp_path / 't.json'])
    assert not row.get('fatal') and not row['bad']
    assert row['slices'] == sum(len(one.raw) for _, one in Space(hostile()).lines())
