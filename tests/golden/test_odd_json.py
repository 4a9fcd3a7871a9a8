"""JSON that no profiler should write: both of its exported forms show the same events, and what neither shows is
counted."""

import json

import pytest
from pftrace_decode import Trace
from test_perfetto_json import events_of, exported
from test_pftrace_json import (flows_have_their_slices, made, same_moments_and_counters, same_slices,
                               same_threads)

GOOD = ",".join('{"ph":"X","name":"g","ts":%d,"dur":1,"pid":1,"tid":1}' % (10 * i) for i in range(5))


def shown(events, folder):
    """(events of the JSON, what it says is missing, the .pftrace)."""
    path = folder / "odd.json"
    path.write_text('{"traceEvents":[' + events + "]}")
    out = exported(path)
    missing = json.loads(out).get("view_profile_missing") or {"events": 0, "flows": 0}
    return events_of(out), missing, Trace(made(path, folder), unfinished=True)


def both_show(events, folder):
    """The events that both forms show, and how many are counted as missing."""
    exported.cache_clear()
    ours, missing, trace = shown(events, folder)
    same_slices(ours, trace)
    same_threads(ours, trace)
    same_moments_and_counters(ours, trace)
    flows_have_their_slices(ours, trace, missing)
    return ours, missing["events"]


@pytest.mark.parametrize("pid", ["0x1", "0b%d", "+%d", "1_%d", "nil"])
@pytest.mark.parametrize("phase", ['"i"', '"X"', '"C"', '"n"', '"\\u0069"'])
def test_ids_and_phases_in_forms_of_others(pid, phase, tmp_path):
    """Of 300 threads, named by what JSON has no form for."""
    rest = '"name":"p","s":"t","dur":1,"id":1,"args":{"v":1}'
    made_of = ",".join('{"ph":%s,%s,"ts":%d,"pid":%s,"tid":%d}' % (phase, rest, i, pid.replace("%d", str(i)), i)
                       for i in range(300))
    events, missing = both_show(made_of, tmp_path)
    assert missing == 0
    assert sum(e["ph"] != "M" for e in events) == 300


def test_a_time_in_a_form_of_others_alone_names_its_thread(tmp_path):
    events, missing = both_show(",".join('{"ph":"i","name":"p","s":"t","ts":+%d,"pid":%d,"tid":%d}' % (i, i, i)
                                         for i in range(300)), tmp_path)
    assert missing == 0
    assert len(events) == 300


def test_what_only_the_second_reading_sees_is_counted(tmp_path):
    """A counter whose value is mended is a number there only, and its process is nobody else's."""
    path = tmp_path / "odd.json"
    path.write_text("[" + ",".join('{"ph":"C","name":"c","ts":1,"pid":%d,"args":{"v":+1}}' % (i + 7)
                                   for i in range(300)) + "]")
    trace = Trace(made(path, tmp_path), unfinished=True)
    said = json.loads(trace.note("view_profile_missing") or '{"events": 0}')["events"]
    assert said + len(trace.counters) == 300


EPOCH = 1_700_000_000_000_000


@pytest.mark.parametrize("phase", ["X", "i", "B", "b", "C"])
@pytest.mark.parametrize("zeros", [1, 3])
def test_times_of_0_before_those_since_1970_are_none(zeros, phase, tmp_path):
    """They alone are refused, and what they said of tracks and ids says nothing of the others."""
    zero = '{"ph":"%s","ts":0,"dur":90,"pid":1,"tid":1,"id":1,"cat":"c","name":"z","args":{"v":1}}' % phase
    rest = '{"ph":"X","ts":%d,"dur":20,"pid":1,"tid":1,"name":"g"}'
    events, missing = both_show(",".join([zero] * zeros + [rest % (EPOCH + 100 * i) for i in range(5)]), tmp_path)
    assert missing == zeros
    assert [e["name"] for e in events if e["ph"] != "M"] == ["g"] * 5
    assert len({e["tid"] for e in events if e["ph"] == "X"}) == 1


def test_a_time_beyond_those_since_1970_is_none(tmp_path):
    times = EPOCH, 2 * EPOCH, 0, EPOCH, EPOCH + 50
    rest = ",".join('{"ph":"X","ts":%d,"dur":20,"pid":1,"tid":1,"name":"g"}' % t for t in times)
    events, missing = both_show(rest, tmp_path)
    assert missing == 2 and len([e for e in events if e["ph"] != "M"]) == 3


def test_a_time_of_0_among_small_ones_is_one(tmp_path):
    events, missing = both_show('{"ph":"i","ts":0,"pid":1,"tid":1,"name":"z","s":"t"},' + GOOD + ',' +
                                '{"ph":"i","ts":%d,"pid":1,"tid":1,"name":"far","s":"t"}' % EPOCH, tmp_path)
    assert missing == 1 and len([e for e in events if e["ph"] != "M"]) == 6
