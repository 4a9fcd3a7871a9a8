"""The tracks that an export adds to a file's own, of every real timeline: they add up to the report's figures, lie
where ops lie, nest, disturb no event of the file, and are the same in both forms."""
import collections
import functools
import json
import subprocess

import pytest

from common import PROGRAM, TRACES, least, report_or_none, timelines
from added import added_pids
from pftrace_decode import Trace

LARGE = 3 << 20  # bytes of an export that Python is given
PARTS = {"compute": "compute_ps", "exposed communication": "exposed_comm_ps", "exposed copy": "exposed_copy_ps",
         "idle": "idle_ps"}
FILES = pytest.mark.parametrize("path", timelines(), ids=lambda p: str(p.relative_to(TRACES)))

Slice = collections.namedtuple("Slice", "start end name args")


def export(path, form):
    return subprocess.run([PROGRAM, "export", "--to", form, str(path)], capture_output=True, check=False)


def ns(us):
    return round(us * 1000)


def base(name):
    """A track without the number of a sibling and the name of its stream."""
    return name.split(" · ")[0].split(" (")[0]


@functools.lru_cache(maxsize=None)
def exported(path):
    """{(process, its number): {track: [slices]}} of what was added, or None."""
    done = export(path, "perfetto-json")
    if done.returncode or len(done.stdout) > LARGE:
        return None
    events = json.loads(done.stdout)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    ours = added_pids(events)
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
               if e["ph"] == "M" and e["name"] == "thread_name" and e["pid"] in ours}
    tracks = collections.defaultdict(lambda: collections.defaultdict(list))
    for e in events:
        if e["ph"] == "X" and e.get("pid") in ours:
            tracks[names[e["pid"]], e["pid"]][threads[e["pid"], e["tid"]]].append(
                Slice(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"], e["args"]))
    return tracks


def of_device(tracks, device):
    """{track: slices} of one device of the report, on whichever clock."""
    found = {}
    for (process, _), inside in tracks.items():
        if process in (device["name"] + " (analysis)", device["name"] + " (analysis, device clock)"):
            found.update(inside)
    return found


def both(path):
    tracks = exported(path)
    report = report_or_none(path)
    if tracks is None or report is None:
        pytest.skip("SKIP: it has no report, or is too large for Python")
    return tracks, report


def names_are_unique(report):
    names = [d["name"] for d in report["devices"]]
    return len(names) == len(set(names))


def add_up(path, tracks, report):
    if not names_are_unique(report):
        return
    for device in report["devices"]:
        found, figures = of_device(tracks, device), device["breakdown"]
        idle = found.get("Idle", [])
        assert sum(s.args["duration_ps"] for s in idle) == figures["idle_ps"]
        assert abs(sum(s.end - s.start for s in idle) * 1000 - figures["idle_ps"]) <= 500
        causes = collections.Counter()
        for s in idle:
            causes[s.args["cause"]] += s.args["duration_ps"]
        assert causes == {k: v for k, v in device["idle_causes"].items() if v}
        parts = collections.Counter()
        for name, slices in found.items():
            for s in slices if base(name).startswith("Compute") else ():
                parts[PARTS[s.name]] += s.args["duration_ps"]
        assert parts == {p: figures[p] for p in PARTS.values() if figures[p]}


def nest(path, tracks, report):
    """Perfetto drops what crosses."""
    for inside in tracks.values():
        for name, slices in inside.items():
            open_ends = []
            for s in slices:
                while open_ends and open_ends[-1] <= s.start:
                    open_ends.pop()
                assert not open_ends or s.end <= open_ends[-1], (name, s)
                open_ends.append(s.end)
            assert slices == sorted(slices, key=lambda s: s.start), name


def both_forms_are_alike(path, tracks, report):
    done = export(path, "pftrace")
    if done.returncode:
        return
    made = Trace(done.stdout, unfinished=True)
    other = collections.defaultdict(lambda: collections.defaultdict(list))
    for x in made.slices:
        if made.added(x.track):
            other[made.tracks[x.track.parent].name, x.track.parent][x.track.name].append(
                Slice(x.start, x.end, x.name, x.args))

    def plain(of):
        return sorted((p, sorted((t, sorted((x.start, x.end, x.name, sorted(x.args.items())) for x in v))
                                 for t, v in inside.items())) for (p, _), inside in of.items())

    assert plain(other) == plain(tracks)


def work_lies_inside(path, tracks, report):
    for inside in tracks.values():
        for name, slices in inside.items():
            if base(name) in ("XLA Modules", "Framework scopes", "Source"):
                assert all(0 < s.args["busy_ps"] <= s.args["duration_ps"] for s in slices), name


@FILES
def test_added_tracks(path):
    tracks, report = both(path)
    for check in (add_up, nest, work_lies_inside, both_forms_are_alike):
        check(path, tracks, report)


def test_most_files_get_tracks():
    assert sum(bool(exported(p)) for p in timelines()) >= least(130, 80)
