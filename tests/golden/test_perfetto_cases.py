"""Perfetto's own cases of Trace Event JSON at the level of the report: how slices nest decides self
times, and what its importer skips has no row. Names, times and durations of every case are compared
event by event in tests/unit/test_json_perfetto.c."""
import csv

import pytest

from common import TRACES, report, trace, view_profile

CASES = 'expected/google__perfetto/'
INPUTS = sorted(p.stem for p in (TRACES / CASES).glob('*.json'))


def expected(case):
    """Rows of the .csv, which is indented."""
    text = trace(f'{CASES}{case}.expected.csv').read_text(encoding='utf-8')
    return list(csv.DictReader(line.strip() for line in text.splitlines() if line.strip()))


def ops(case):
    return {o['name']: o for o in report(f'{CASES}{case}.json', '--group=raw')['ops']}


def selects_durations(case):
    rows = expected(case)
    return rows and {'name', 'dur'} <= rows[0].keys()


@pytest.mark.parametrize('case', [c for c in INPUTS if selects_durations(c)])
def test_slices_have_a_row(case):
    rows, ours = expected(case), ops(case)
    for row in {(r['name'], r['ts'], r['dur']): r for r in rows}.values():
        mine = ours[row['name']]
        if int(row['dur']) >= 0:
            assert mine['min_ps'] <= int(row['dur']) * 1000 <= mine['max_ps']


@pytest.mark.parametrize('case', [c for c in INPUTS if c.startswith('same_ts') or c == 'x_event_order'])
def test_depth_is_who_owns_the_time(case):
    """At depth 0 nothing but children take of a slice; a slice at depth 1 lies in the one at depth 0."""
    ours, by_depth = ops(case), {}
    for row in expected(case):
        by_depth.setdefault(int(row['depth']), []).append(ours[row['name']])
    nested = sum(o['total_ps'] for o in by_depth.get(1, []))
    assert sum(o['self_ps'] for o in by_depth[0]) == sum(o['total_ps'] for o in by_depth[0]) - nested
    assert all(o['self_ps'] == o['total_ps'] for o in by_depth.get(1, []))


def test_an_empty_element_at_the_end():
    assert [o['calls'] for o in ops('trailing_empty_event').values()] == [1]
    # its one thread has no name, which is all there is to say
    assert [q['code'] for q in report(CASES + 'trailing_empty_event.json')['quality']] == ['thread-names']


def test_times_that_are_no_numbers():
    """Perfetto imports neither of the two; a profile of which nothing can be read is refused."""
    done = view_profile('report', str(trace(CASES + 'invalid_string_ts_and_dur.json')), check=False)
    assert done.returncode == 3 and done.stdout == '' and ': no event can be read: 2 events skipped ' in done.stderr


def test_counters_are_no_slices():
    for case in ('counters_json_counters', 'json_counter_args'):
        assert ops(case) == {}


def test_every_case_with_an_input_is_read():
    assert len(INPUTS) == 21
