"""The .pftrace of XSpaces at the edges of what their numbers can say: no number of ours runs over, no two tracks become
one, and what cannot be shown is said."""

import gzip
import json

from common import report, run, tool, view_profile
from gen import wire
from pftrace_decode import Trace

AT = 1_700_000_000_000_000_000


def event(offset, duration, more=b""):
    return wire.bytes_(4, wire.number(1, 1) + wire.number(2, offset) + wire.number(3, duration) + more)


def line(ident, name, at, *events):
    return wire.bytes_(3, wire.number(1, ident) + wire.text(2, name) + wire.number(3, at) + b"".join(events))


def plane(ident, name, *lines):
    op = wire.bytes_(4, wire.number(1, 1) + wire.bytes_(2, wire.number(1, 1) + wire.text(2, "op")))
    return wire.bytes_(1, wire.number(1, ident) + wire.text(2, name) + b"".join(lines) + op)


def exported(tmp_path, space):
    """The trace, and what its stream says of damage."""
    (tmp_path / "h.xplane.pb").write_bytes(space)
    out, err = run(tool("export_tool"), "pftrace", tmp_path / "h.xplane.pb")
    return Trace(out), json.loads(err)["damage"]


def test_a_line_before_all_time_shows_nothing(tmp_path):
    """Its start and its event's together are no int64; the line beside it is as good as alone."""
    trace, damage = exported(tmp_path, plane(1, "/host:CPU", line(1, "early", -1 << 63, event(-5_000_000_000, 1000)),
                                             line(2, "good", AT, event(0, 1000))))
    assert [(s.name, s.start, s.end) for s in trace.slices] == [("op", 0, 1)]
    assert damage
    assert len(trace.sequences) == 1  # of the one that shows something


def test_no_two_tracks_have_one_number(tmp_path):
    """Overlapping calls need a track beside their thread's, whose number was a thread's of a process with a great
    one."""
    lines = [line(i, f"L{i}", AT, event(0, 10_000_000)) for i in range(1, 300)]
    trace, damage = exported(tmp_path, plane(0, "/device:TPU:0", line(1, "XLA Ops", AT, event(0, 10_000_000),
                                                                      event(5_000_000, 10_000_000))) +
                             plane((1 << 26) - 1, "/device:TPU:1", *lines))  # Trace itself asks for numbers told once
    assert not damage
    by_process = [trace.process_of(s.track).name for s in trace.slices]
    assert (by_process.count("/device:TPU:0"), by_process.count("/device:TPU:1")) == (2, 299)
    assert len({s.track.uuid for s in trace.slices}) == 301


def test_what_cannot_be_shown_of_an_unsorted_thread_is_said(tmp_path):
    """Of a thread whose calls stand in order, and of one whose calls do not."""
    for starts in ((0, 2_000_000, 4_000_000), (0, 4_000_000, 2_000_000)):
        good = [event(at, 1_000_000) for at in starts]
        for bad in (event((1 << 63) - 1, 1000), event(3_000_000, 1_000_000, b"\x22\x7f")):  # no time; a stat beyond its end
            trace, damage = exported(tmp_path, plane(1, "/device:TPU:0", line(1, "XLA Ops", AT, *good, bad)))
            assert sorted(s.start for s in trace.slices) == [0, 2000, 4000]
            assert damage, (starts, bad)


def test_a_start_is_exact_on_both_sides_of_its_line(tmp_path):
    """The ns and what is said of its rest are the file's ps, also before the line's timestamp."""
    starts = (-1501, -1500, -1499, -501, -500, -499, -1, 0, 499, 500, 5001)
    trace, _ = exported(tmp_path, plane(1, "/host:CPU", line(1, "t", AT, *(event(at, 1000) for at in starts))))
    shift = min((s.start for s in trace.slices)) * 1000 + 2000  # so that none is before 0: -1501 is rounded to -2 ns
    found = sorted(s.start * 1000 - shift + s.args.get("start_rest_ps", 0) for s in trace.slices)
    assert found == sorted(starts)


def test_the_analysis_of_another_file_is_not_put_behind(tmp_path):
    """Of the better half no event can be read, so that reports are made of the other, whose times count from elsewhere:
    both are good, but not as one."""
    run_dir = tmp_path / "plugins" / "profile" / "run"
    run_dir.mkdir(parents=True)
    (run_dir / "h.xplane.pb").write_bytes(plane(1, "/device:TPU:0", line(1, "XLA Ops", AT, event((1 << 63) - 1, 1000))))
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:TPU:0"}},
              {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}},
              {"ph": "X", "pid": 1, "tid": 2, "ts": 5, "dur": 7, "name": "a"}]
    (run_dir / "h.trace.json.gz").write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    assert report(str(run_dir))["devices"][0]["name"] == "/device:TPU:0"
    made = view_profile("export", "--to", "pftrace", "-o", str(tmp_path / "made"), str(run_dir))
    assert "h.trace.json.gz" in made.stderr and "without analysis tracks" in made.stderr
    assert not Trace((tmp_path / "made").read_bytes()).slices
