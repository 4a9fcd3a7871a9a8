"""Events that are told in two, by Perfetto's rules: halves of async events that cross, come too early or have ids that it
refuses; and what is picked by a window or by length goes or stays as a whole."""
import itertools
import json

import pytest
from common import PROGRAM, run, tool
from added import own  # beside common, which finds it
from pftrace_decode import Trace
from real_perfetto import checked, needs_perfetto
from test_pftrace_json import closed, name_of


def half(ph, ts, name='A', **more):
    event = {'ph': ph, 'ts': ts, 'pid': 7, 'tid': 7, 'cat': 'c', 'id': 1, 'name': name} | more
    return {k: v for k, v in event.items() if v is not None}


def pair(ids, **more):
    return [half('b', 1, id=ids[0], **more), half('e', 3, id=ids[-1], **more)]


OTHER = {'pid': 9, 'tid': 9}
CASES = {  # events, (name, start, end) in µs, how many are missing
    'crossing': ([half('b', 1), half('b', 2, 'B'), half('e', 3), half('e', 4, 'B')], [('A', 1, 3), ('B', 2, 4)], 0),
    'inside': ([half('b', 1), half('b', 2, 'B'), half('e', 3, 'B'), half('e', 4)], [('A', 1, 4), ('B', 2, 3)], 0),
    'crossing an open one': ([half('b', 1), half('b', 2, 'B'), half('e', 3)], [('A', 1, 3), ('B', 2, None)], 0),
    'early and alone': ([half('e', 1), half('b', 2), half('e', 3), half('e', 4)], [('A', 2, 3)], 2),
    'of another name': ([half('b', 1), half('e', 2, 'B'), half('e', 3)], [('A', 1, 3)], 1),
    'an end before its begin in the file': ([half('e', 3), half('b', 1)], [('A', 1, 3)], 0),
    'an end at the moment of its begin, before it': ([half('e', 1), half('b', 1)], [('A', 1, None)], 1),
    'an end without a name': ([half('b', 1), half('e', 3, None)], [('A', 1, 3)], 0),
    'a begin without a name': ([half('b', 1, None), half('e', 3)], [('[No name]', 1, None)], 1),
    'of two processes': ([half('b', 1), half('b', 2, 'B', **OTHER), half('e', 3, **OTHER), half('e', 4, 'B')],
                         [('A', 1, 3), ('B', 2, 4)], 0),
    'of each process': ([half('b', 1, id=None, id2={'local': 1}), half('b', 2, id=None, id2={'local': 1}, **OTHER),
                         half('e', 3, id=None, id2={'local': 1}), half('e', 4, id=None, id2={'local': 1}, **OTHER)],
                        [('A', 1, 3), ('A', 2, 4)], 0),
    'without a process': ([half('b', 1, pid=None), half('e', 3, pid=None), *pair([1])], [('A', 1, 3)], 2),
    'a number and its text': (pair([1, '1']), [('A', 1, None)], 1),
    'a fraction': (pair([1.5]), [('A', 1, 3)], 0),
    'beyond 64 bits': (pair([1 << 64]), [('A', 1, 3)], 0),
    'no id at all': (pair([None, {'a': 1}]) + [half('e', 5, id={'a': 1})], [], 3),
    'true': (pair([True]), [('A', 1, 3)], 0),
    'an object': (pair([{'a': 1}]) + [half('n', 2, id={'a': 1})], [('A', 1, 3)], 0),
    'an empty text': (pair(['']), [('A', 1, 3)], 0),
    'deep': ([half('b', i, f'n{i}') for i in range(1, 521)] + [half('e', 2000 - i, f'n{i}') for i in range(520, 0, -1)],
             [(f'n{i}', i, 2000 - i) for i in range(1, 521)], 0),
    'escapes': ('{"ph":"b","ts":1,"pid":7,"tid":7,"cat":"c","id":"a","name":"A"},'
                '{"ph":"e","ts":3,"pid":7,"tid":7,"cat":"\\u0063","id":"\\u0061","name":"\\u0041"}', [('A', 1, 3)], 0),
}


def exported(folder, events):
    """(the JSON, the .pftrace), whose files are left there."""
    text = events if isinstance(events, str) else ','.join(map(json.dumps, events))
    (folder / 'in.json').write_text('{"traceEvents":[' + text + ']}')
    for how in ('whole', 'pftrace-json'):
        (folder / how).write_bytes(run(tool('export_tool'), how, folder / 'in.json')[0])
    return json.loads((folder / 'whole').read_bytes()), Trace((folder / 'pftrace-json').read_bytes(), unfinished=True)


def in_us(rows):
    """Those without an end last."""
    rows = [(name, start / 1000, None if end is None else end / 1000) for name, start, end in rows]
    return sorted(rows, key=lambda r: (r[2] is None, r))


def both_slices(made, trace):
    """(name, start, end) in both forms."""
    return (in_us((name_of(e), start, end) for e, start, end, _ in closed(made['traceEvents'])),
            in_us((s.name, s.start, s.end) for s in trace.slices))


@pytest.mark.parametrize('case', CASES)
def test_halves_find_each_other(case, tmp_path):
    events, slices, missing = CASES[case]
    made, trace = exported(tmp_path, events)
    want = in_us((n, 1000 * s, e and 1000 * e) for n, s, e in slices)
    assert both_slices(made, trace) == (want, want)
    assert made.get('view_profile_missing', {'events': 0})['events'] == missing
    assert json.loads(trace.note('view_profile_missing') or '{"events": 0}')['events'] == missing


@pytest.mark.slow
@needs_perfetto
def test_perfetto_takes_them_without_a_word(tmp_path):
    files, want = [], []
    for i, (events, slices, _) in enumerate(CASES.values()):
        (tmp_path / str(i)).mkdir()
        exported(tmp_path / str(i), events)
        for form in ('whole', 'pftrace-json'):
            files.append(tmp_path / str(i) / form)
            want.append(in_us((n, 1000 * s, e and 1000 * e) for n, s, e in slices))
    rows = checked(files, '--sql', 'select name, ts, dur from slice where dur != 0')
    for row, file, slices in zip(rows, files, want):
        assert not row.get('fatal') and not row['bad'], (file, row)
        got = in_us((r['name'], int(r['ts']), None if int(r['dur']) < 0 else int(r['ts']) + int(r['dur'])) for r in row['rows'])
        assert got == slices, file


FLOW_IDS = {  # of the start and of the end, whether they are one
    ('10', 16): True, ('0x10', '10'): True, ('AB', 'ab'): True, (-1, '-1'): True, ('zz', 'zz'): True, ('a', '\\u0061'): True,
    (1.5, 1.5): True, (1 << 64, 1 << 64): True, ('z', '\\u007a'): True, ('', ''): True, ('z' * 17, 'z' * 17): True,
    ('1', '2'): False, ('zz', 'zy'): False, ('12345678901234567890', '12345678901234567891'): False}


@pytest.mark.slow
@needs_perfetto
def test_flows_have_the_ids_that_perfetto_takes(tmp_path):
    files = {}
    for i, (how, (out, into)) in enumerate(itertools.product(('ids', 'bind_ids'), FLOW_IDS)):
        (tmp_path / str(i)).mkdir()
        slices = [event('X', 1, 'a', dur=2), event('X', 11, 'b', dur=2, tid=2)]
        if how == 'ids':
            slices += [event('s', 2, 'f', id=out, cat='c'), event('f', 12, 'f', id=into, cat='c', tid=2, bp='e')]
        else:
            slices[0] |= {'bind_id': out, 'flow_out': True}
            slices[1] |= {'bind_id': into, 'flow_in': True}
        exported(tmp_path / str(i), ','.join(map(json.dumps, slices)).replace('\\\\u', '\\u'))
        files |= {tmp_path / str(i) / form: (how, out, into) for form in ('whole', 'pftrace-json')}
    for row, (file, (how, *ids)) in zip(checked(files), files.items()):
        assert not row.get('fatal') and not row['bad'], (how, ids, file, row)
        assert row['flows'] == FLOW_IDS[tuple(ids)], (how, ids, file)


def event(ph, ts, name, **more):
    return {'ph': ph, 'ts': ts, 'pid': 1, 'tid': 1, 'name': name} | more


TOLD_IN_TWO = [  # 8 pairs of 10 µs each 20 µs, an open one of either kind, and flows and counters all the way
    *(half(ph, 20 * i + d, f'async {i}', id=i) for i in range(8) for ph, d in (('b', 0), ('e', 10))),
    *(event(ph, 20 * i + d, f'pair {i}') for i in range(8) for ph, d in (('B', 0), ('E', 10))),
    half('b', 45, 'open async', id='open'), event('B', 45, 'open', tid=2),
    *(half('n', 20 * i + 5, f'moment {i}', id=i) for i in range(8)),
    event('B', 65, 'cut off', tid=3), event('B', 63, 'around', tid=3), event('E', 69, 'around', tid=3)]


def picked(folder, *words):
    """Names of the slices and moments in the JSON and in the .pftrace, and what is said on stderr."""
    (folder / 'in.trace.json').write_text(json.dumps({'traceEvents': TOLD_IN_TWO}))
    for form in ('perfetto-json', 'pftrace'):
        _, said = run(PROGRAM, 'export', '--to', form, '-o', folder / form, *words, folder / 'in.trace.json')
    events = own(json.loads((folder / 'perfetto-json').read_bytes()))
    trace = Trace((folder / 'pftrace').read_bytes(), unfinished=True)
    names = [name_of(e) for e, *_ in closed(events)] + [e['name'] for e in events if e['ph'] == 'n']
    slices = [s.name for s in trace.of_file()] + [i.name for i in trace.instants if not trace.added(i.track)]
    halves = [e for e in events if e['ph'] in 'be']
    assert sum(e['ph'] == 'b' for e in halves) - ('open async' in names) == sum(e['ph'] == 'e' for e in halves)
    assert sorted(names) == sorted(slices)
    return sorted(names), said


@pytest.mark.parametrize('window,numbers', [('25us..35us', [1]), ('30us..40us', []), ('29us..41us', [1, 2]), ('0..1us', [0])])
def test_a_window_takes_pairs_as_a_whole(window, numbers, tmp_path):
    names, said = picked(tmp_path, '--window', window)
    until = int(window.split('..')[1].removesuffix('us'))
    want = [f'{kind} {i}' for i in numbers for kind in ('async', 'pair')]
    want += [f'moment {i}' for i in range(8) if int(window.split('us')[0].split('.')[0]) <= 20 * i + 5 < until]
    assert names == sorted(want)
    assert b'%d events omitted' % (28 - len(want)) in said


def test_what_has_no_end_lasts_as_long_as_the_trace(tmp_path):
    names, _ = picked(tmp_path, '--window', '100us..200us')
    assert {'open', 'open async', 'pair 5', 'async 7'} <= set(names) and not {'around', 'cut off'} & set(names)


@pytest.mark.parametrize('most', [1, 2, 3, 9, 10, 11, 17, 18, 19, 20, 21, 25, 27, 28])
def test_the_longest_are_exactly_so_many(most, tmp_path):
    """Of equally long ones the first of the file."""
    names, said = picked(tmp_path, '--max-events', most)
    longest = ['open async', 'open'] + [f'async {i}' for i in range(8)] + [f'pair {i}' for i in range(8)]
    longest += ['around', 'cut off'] + [f'moment {i}' for i in range(8)]
    assert names == sorted(longest[:most])
    assert said == (b'' if most == 28 else b'%d events omitted' % (28 - most)) or b' %d events' % (28 - most) in said
