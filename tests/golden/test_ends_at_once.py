"""Ends of one moment, in any order: each closes what its name opened last and no frame around it, as Perfetto's importer
has it, in both forms of the export and in the report. catapult writes the outer end first."""
import itertools
import json

import pytest
from common import PROGRAM, report, run
from added import own
from pftrace_decode import Trace
from real_perfetto import needs_perfetto, queried

# F calls G, which calls H, which calls F; all but the outermost end at 10.
BEGINS = [('F', 0), ('G', 1), ('H', 2), ('F', 3)]
WANT = [('F', 0, 20_000), ('F', 3000, 10_000), ('G', 1000, 10_000), ('H', 2000, 10_000)]


def text_of(order):
    edges = [('B', *b) for b in BEGINS] + [('E', name, 10) for name in order] + [('E', 'F', 20)]
    return json.dumps({'traceEvents': [
        {'ph': phase, 'name': name, 'ts': ts, 'pid': 1, 'tid': 2, 'cat': 'c'} for phase, name, ts in edges]})


@pytest.mark.parametrize('order', itertools.permutations('FGH'), ids=''.join)
def test_no_frame_around_is_closed(order, tmp_path):
    path = tmp_path / 'ends.trace.json'
    path.write_text(text_of(order))
    made = Trace(run(PROGRAM, 'export', path)[0])
    assert sorted((s.name, s.start, s.end) for s in made.of_file()) == WANT and not made.instants
    text, _ = run(PROGRAM, 'export', '--to', 'perfetto-json', path)
    assert not [e for e in own(json.loads(text)) if e['ph'] == 'i']
    ops = {o['name']: o for o in report(path)['ops']}
    assert {n: (o['calls'], o['total_ps'] // 10**6) for n, o in ops.items()} == {'F': (2, 20), 'G': (1, 9), 'H': (1, 8)}  # F in F once
    assert ops['F']['self_ps'] == 18 * 10**6


@needs_perfetto
@pytest.mark.parametrize('form', ['pftrace', 'perfetto-json'])
def test_the_importer_takes_each_slice_as_long(form, tmp_path):
    path, made = tmp_path / 'ends.trace.json', tmp_path / form
    path.write_text(text_of('GFH'))
    run(PROGRAM, 'export', '--to', form, '-o', made, path)
    found = queried(made, 'select s.name name, ts, ts + dur until from slice s join thread_track k on k.id = s.track_id '
                    'join thread t using (utid) join process p using (upid) where t.tid = 2 and p.pid = 1')
    assert sorted((s['name'], s['ts'], s['until']) for s in found) == WANT
