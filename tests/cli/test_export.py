"""`view_profile export`: a timeline as Perfetto takes it, whole or not at all."""
import gzip
import json
import os
import pathlib
import pty
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from added import own  # noqa: E402
from common import trace  # noqa: E402
from pftrace_decode import Trace  # noqa: E402
from xplane_events import Space  # noqa: E402

RUN = "jax_cpu/mnist_train"
XPLANE = RUN + "/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb"
KINETO = "pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0"  # 90,000 events: several threads read it
SMALL = "pytorch_cuda/pytorch__ao/tutorials/quantize_vit/v9__bfloat16.json.gz"  # of Kineto, with arrows


def export(place, *args, **kwargs):
    return subprocess.run(["view_profile", "export", *map(str, args)], cwd=place.dir, env=place.env,
                          capture_output=True, check=False, **kwargs)


def slices(data):
    """Of the file, without what an export adds."""
    trace_ = Trace(data)
    return sorted((s.name, s.start, s.end) for s in trace_.slices if not trace_.added(s.track))


def test_a_pftrace_holds_every_event(place):
    done = export(place, "-o", "run.pftrace", trace(RUN))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    made = (place.dir / "run.pftrace").read_bytes()
    space = Space(trace(XPLANE).read_bytes())
    assert slices(made) == sorted(
        (n, s, e) for _, line in space.lines() for n, s, e, _ in line.shown(space.base))
    assert export(place, trace(RUN)).stdout == made  # a pipe takes it, too
    assert export(place, "--to", "pftrace", "--session", "06_33_16", trace("jax_cpu")).stdout == made


def test_what_is_not_shown_is_counted(place):
    usual = {"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "name": "a"}
    (place.dir / "odd.trace.json").write_text(json.dumps([usual, usual | {"ts": "soon"}, usual | {"ph": "N", "id": 1}]))
    (place.dir / "flow.trace.json").write_text(json.dumps([usual, usual | {"ph": "s", "id": 1, "ts": 90, "tid": 7}]))
    for form in ("perfetto-json", "pftrace", "bundle"):
        done = export(place, "--to", form, "-o", "out", "odd.trace.json")
        assert (done.returncode, done.stderr) == (0, b"view_profile: odd.trace.json: 2 events cannot be shown\n")
        assert export(place, "--to", form, "-o", "out", "flow.trace.json").stderr == b""
        done = export(place, "-v", "--to", form, "-o", "out", "flow.trace.json")
        assert done.returncode == 0 and b"view_profile: flow.trace.json: 1 flow end without a slice or a second end\n" in done.stderr


def test_the_first_failure_is_told(place):
    """Not that of the analysis beside it, which is stopped; and of which file it is."""
    (place.dir / "cut.trace.json").write_text('{"traceEvents":[')
    for form in ("perfetto-json", "pftrace", "bundle"):
        for _ in range(8):
            done = export(place, "--to", form, "-o", "nodir/x", trace(SMALL))
            assert (done.returncode, done.stderr) == (3, b"view_profile: nodir/x: cannot write: No such file or directory\n")
            done = export(place, "--to", form, "-o", "x", "cut.trace.json")
            assert done.returncode == 3 and done.stderr.splitlines()[-1].startswith(b"view_profile: cut"), done.stderr
            assert b"the file is truncated" in done.stderr


def test_what_is_read_is_not_replaced(place):
    text = '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a"}]'
    (place.dir / "a.trace.json").write_text(text)
    (place.dir / "link").symlink_to("a.trace.json")
    os.link(place.dir / "a.trace.json", place.dir / "hard")
    for out in ("a.trace.json", "./a.trace.json", "link", "hard"):
        done = export(place, "--to", "perfetto-json", "-o", out, "a.trace.json")
        assert done.returncode == 2 and b"this is the input" in done.stderr
        assert (place.dir / "a.trace.json").read_text() == text


def test_a_file_that_is_replaced_keeps_who_may_read_it(place):
    for mode in (0o600, 0o640):
        (place.dir / "out").write_text("old")
        (place.dir / "out").chmod(mode)
        assert export(place, "-o", "out", trace(XPLANE)).returncode == 0
        assert (place.dir / "out").stat().st_mode & 0o777 == mode and (place.dir / "out").stat().st_size > 3


def test_a_pftrace_is_made_of_json(place):
    """What the JSON form shows, the .pftrace does: whole, in a window, and the longest."""
    space = [("whole", []), ("window", ["--window", "10ms..60ms"]), ("longest", ["--max-events", "500"])]
    for name, words in space:
        done = export(place, *words, "-o", name + ".pftrace", trace(SMALL))
        assert done.returncode == 0, done.stderr
        theirs = export(place, *words, "--to", "perfetto-json", "-o", name + ".json", trace(SMALL))
        assert done.stderr == theirs.stderr
        made = Trace((place.dir / (name + ".pftrace")).read_bytes())
        events = own(json.loads((place.dir / (name + ".json")).read_bytes()))
        want = sorted((e["name"], round(e["ts"] * 1000)) for e in events if e["ph"] == "X")
        assert want and sorted((s.name, s.start) for s in made.slices if not made.added(s.track)) == want
        assert len(made.points) == sum(e["ph"] in "stf" for e in events)
    assert len({export(place, trace(KINETO)).stdout for _ in range(2)}) == 1


def test_planes_that_say_they_are_one(place):
    """A file behind itself: each plane keeps threads of its own, and every event is there twice."""
    once = trace(XPLANE).read_bytes()
    (place.dir / "twice.xplane.pb").write_bytes(once + once)
    made, of_once = (Trace(export(place, "--max-events", 10**9, p).stdout)
                     for p in ("twice.xplane.pb", trace(XPLANE)))
    assert sorted(s[1:4] for s in made.slices) == sorted([s[1:4] for s in of_once.slices] * 2)
    threads = [sum(t.kind == "thread" for t in of.tracks.values()) for of in (made, of_once)]
    assert threads[0] == 2 * threads[1]


def test_tracks_of_the_analysis_are_added(place):
    """Behind a file's own, in both forms; the longest N slices are those of the file alone."""
    made = Trace(export(place, trace(RUN)).stdout)
    tracks = {t.name for t in made.tracks.values() if made.added(t)}
    assert {"/host:CPU:0 (analysis)", "analysis", "Idle", "Steps", "Slowest ops", "Findings"} <= tracks
    plain = json.loads(export(place, "--to", "perfetto-json", trace(RUN)).stdout)["traceEvents"]
    names = {e["args"]["name"] for e in plain if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {t for t in tracks if "analysis" not in t} <= names
    longest = Trace(export(place, "--max-events", 50, trace(RUN)).stdout)
    assert not any(longest.added(t) for t in longest.tracks.values())
    window = Trace(export(place, "--window", "10ms..20ms", trace(RUN)).stdout)
    first = min(s.start for s in made.slices if not made.added(s.track))
    added = [s for s in window.slices if window.added(s.track)]
    assert added and all(s.start < first + 20_000_000 and s.end > first + 10_000_000 for s in added)


def test_json_is_packed_by_its_name(place):
    for name in ("run.json", "run.json.gz"):
        done = export(place, "--to", "perfetto-json", "-o", name, trace(RUN))
        assert (done.returncode, done.stderr) == (0, b"")
    plain = (place.dir / "run.json").read_bytes()
    assert gzip.decompress((place.dir / "run.json.gz").read_bytes()) == plain
    assert len(json.loads(plain)["traceEvents"]) > 1000


def test_the_same_file_gives_the_same_text(place):
    """Flows that share an id are parted by ids of ours, which each process must choose alike."""
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5, "name": "op"} for i in range(40)]
    events += [{"ph": "s", "pid": 1, "tid": 1, "ts": 10 * i, "id": i % 10, "cat": "c", "name": "n"} for i in range(40)]
    (place.dir / "flows.trace.json").write_text(json.dumps({"traceEvents": events}))
    made = {export(place, "--to", "perfetto-json", "flows.trace.json").stdout for _ in range(5)}
    assert len(made) == 1
    flows = [e["id"] for e in json.loads(made.pop())["traceEvents"] if e["ph"] == "s"]
    assert len(set(flows)) == 40


def test_what_nobody_makes_says_what_to_do(place):
    done = export(place, "-o", "x.pftrace", trace(XPLANE).parent / "none")
    assert done.returncode == 4 and b"none" in done.stderr
    assert not (place.dir / "x.pftrace").exists()


def test_a_terminal_gets_no_bytes(place):
    leader, follower = pty.openpty()
    done = subprocess.run(["view_profile", "export", str(trace(RUN))], cwd=place.dir, env=place.env,
                          stdout=follower, stderr=subprocess.PIPE, check=False)
    os.close(follower)
    assert done.returncode == 2 and b"-o FILE" in done.stderr
    os.close(leader)


def test_hosts_are_named(place):
    run = place.dir / "plugins" / "profile" / "two"
    run.mkdir(parents=True)
    for host in ("a", "b"):
        (run / f"{host}.xplane.pb").write_bytes(trace(XPLANE).read_bytes())
    done = export(place, "--to", "perfetto-json", "-o", "x.json", place.dir)
    assert done.returncode == 2 and b"2 hosts" in done.stderr and b"a, b" in done.stderr
    assert export(place, "--host", "b", "-o", "x.pftrace", place.dir).returncode == 0
    done = export(place, "--host", "c", "-o", "y.pftrace", place.dir)
    assert done.returncode == 4 and b'no host "c"' in done.stderr


def test_a_damaged_file_is_exported_with_a_word(place):
    data = trace(XPLANE).read_bytes()
    (place.dir / "cut.xplane.pb").write_bytes(data[:-1000])
    done = export(place, "-o", "cut.pftrace", "cut.xplane.pb")
    assert done.returncode == 0 and b"cut.xplane.pb is damaged" in done.stderr
    assert Trace((place.dir / "cut.pftrace").read_bytes()).slices


def spans():
    """(start, end) of every event, the first at 0."""
    space = Space(trace(XPLANE).read_bytes())
    found = [(s, e) for _, line in space.lines() for _, s, e, _ in line.shown(space.base)]
    first = min(s for s, _ in found)
    return [(s - first, e - first) for s, e in found], first


@pytest.mark.parametrize("text,start,end", [("10ms..20ms", 10_000_000, 20_000_000), ("0..1500ns", 0, 1500),
                                            ("0.05s..0.0500001s", 50_000_000, 50_000_100), ("5m..6m", 3e11, 3.6e11)])
def test_a_window(place, text, start, end):
    all_of_it, first = spans()
    want = sorted((s + first, e + first) for s, e in all_of_it
                  if s < end and (e > start or s == e == start))
    done = export(place, "--window", text, "-o", "w.pftrace", trace(RUN))
    assert done.returncode == 0
    assert b"%d events omitted" % (len(all_of_it) - len(want)) in done.stderr
    assert sorted((s, e) for _, s, e in slices((place.dir / "w.pftrace").read_bytes())) == want
    export(place, "--to", "perfetto-json", "--window", text, "-o", "w.json", trace(RUN))
    made = [e for e in own(json.loads((place.dir / "w.json").read_bytes())) if e["ph"] == "X"]
    assert sorted(round(e["ts"] * 1000) for e in made) == [s for s, _ in want]


def test_the_longest(place):
    lengths = sorted((e - s for s, e in spans()[0]), reverse=True)
    done = export(place, "--max-events", 100, "-o", "w.pftrace", trace(RUN))
    made = sorted((e - s for _, s, e in slices((place.dir / "w.pftrace").read_bytes())), reverse=True)
    assert made == lengths[:100]
    assert b"%d events omitted" % (len(lengths) - len(made)) in done.stderr
    export(place, "--max-events", 10**9, "-o", "all.pftrace", trace(RUN))
    assert len(slices((place.dir / "all.pftrace").read_bytes())) == len(lengths)


@pytest.mark.parametrize("words", [["--window", "1..1"], ["--window", "2s..1s"], ["--window", "1s"],
                                   ["--window", "-1..2"], ["--window", "1h..2h"], ["--max-events", "0"],
                                   ["--to", "png"], ["--to"], ["a", "b", "c"]])
def test_usage(place, words):
    done = export(place, *words, "-o", "x.pftrace")
    assert done.returncode == 2 and not (place.dir / "x.pftrace").exists()
