"""The .pftrace that we make of an xplane: every event of the file once, at its time in whole ns, what is finer as
arguments, all its stats with their types, each allocator's memory, decoded by other means than ours; and, where there
is one, by Perfetto's own trace_processor (PF_UI: a Perfetto UI build)."""

import collections
import functools
import json
import struct

import pytest
from common import TRACES, run, tool
from pftrace_decode import Trace
from real_perfetto import checked, needs_perfetto
from xplane_events import HIDDEN, Space, memory

XPLANES = sorted(TRACES.rglob("*.xplane.pb"))
LARGE = 8 << 20  # bytes of a trace that Python is given


def relative(path):
    return str(path.relative_to(TRACES))


@pytest.fixture(scope="module", params=XPLANES, ids=relative)
def xplane(request):
    """Of this scope, so that all tests of a file come before the next file: it is decoded once."""
    return request.param


@functools.lru_cache(maxsize=2)
def exported(xplane):
    out, err = run(tool("export_tool"), "pftrace", xplane)
    return out, json.loads(err)["damage"]


@functools.lru_cache(maxsize=1)
def decoded(xplane):
    return Trace(exported(xplane)[0]), Space(xplane.read_bytes())


def whole(xplane):
    out, damage = exported(xplane)
    if damage:
        pytest.skip(f"SKIP: {xplane.name} is damaged")
    if len(out) > LARGE:
        pytest.skip(f"SKIP: {xplane.name} is too large for Python")
    return decoded(xplane)


def plain(value):
    """An argument as the file has it: doubles by their bits, bytes by what is said of them."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    return "<opaque bytes>" if isinstance(value, bytes) else value


def args_of(stats):
    return {k: plain(v) for k, v in stats.items() if k not in HIDDEN and v is not None}


def shown(args):
    return {k: v for k, v in args.items() if k not in ("duration_ps", "start_rest_ps")}


def key(process, name, start, end, args):
    return process, name, start, end, json.dumps(args, sort_keys=True, default=repr)


def test_each_event_is_there_once_with_its_args(xplane):
    trace, space = whole(xplane)
    want = [(p.name, *e) for p, line in space.lines() for e in line.shown(space.base)]
    shift = -min((start for _, _, start, _, _ in want), default=0)
    shift = max(shift, 0)
    expected = collections.Counter(key(p, n, s + shift, e + shift, args_of(stats)) for p, n, s, e, stats in want)
    found = collections.Counter(
        key(trace.process_of(s.track).name, s.name, s.start, s.end, shown(s.args)) for s in trace.slices)
    assert found == expected, (list((found - expected))[:2], list((expected - found))[:2])


def test_what_is_finer_than_a_ns_is_said(xplane):
    trace, space = whole(xplane)
    exact = collections.Counter((name, max(dur, 0)) for _, line in space.lines() for name, _, dur, _ in line.raw)
    found = collections.Counter((s.name, s.args.get("duration_ps", (s.end - s.start) * 1000)) for s in trace.slices)
    # a whole number of ns is exact by itself only where the start is whole, too
    assert sum(found.values()) == sum(exact.values())
    for (name, ps), n in exact.items():
        assert ps % 1000 == 0 or found[name, ps] == n, (name, ps)
    rests = collections.Counter((s.name, s.start * 1000 + s.args.get("start_rest_ps", 0)) for s in trace.slices)
    starts = collections.Counter(
        (name, start + (line.timestamp - (space.base if line.timestamp >= space.base else 0)) * 1000)
        for _, line in space.lines() for name, start, _, _ in line.raw)
    shift = max(-min((s for _, s in starts), default=0), 0)
    assert shift or rests == starts


def test_memory_is_a_counter_of_its_process(xplane):
    trace, space = whole(xplane)
    expected = collections.Counter((start, used) for start, _, used in memory(space))
    assert collections.Counter((at, value) for _, at, value in trace.counters) == expected
    assert all(track.name.endswith(", bytes in use") for track, _, _ in trace.counters)


def test_tracks_have_parents_and_names(xplane):
    trace, space = whole(xplane)
    assert {trace.process_of(s.track).name for s in trace.slices} == {p.name for p, _ in space.lines()}
    for s in trace.slices:
        assert s.track.name, s.track
        if s.track.name.endswith("XLA Ops") and trace.process_of(s.track).name.startswith("/device:TPU:"):
            assert s.track.name.startswith("TPU:")  # a pinned track says whose it is


@needs_perfetto
def test_trace_processor_takes_all_of_it(tmp_path):
    made = {}
    for i, xplane in enumerate(XPLANES):
        (tmp_path / f"{i}.pftrace").write_bytes(exported(xplane)[0])
        made[str(tmp_path / f"{i}.pftrace")] = xplane
    for row in checked(made):
        xplane = made[row["trace"]]
        assert not row.get("fatal") and not row["bad"] and not row["unfinished"], (xplane, row)
        if xplane.stat().st_size < LARGE and not exported(xplane)[1]:
            assert row["slices"] == sum(len(line.raw) for _, line in Space(xplane.read_bytes()).lines())
