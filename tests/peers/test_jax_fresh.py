"""Profiles made a moment ago by the installed JAX, not files we have tuned ourselves to: what we
say of them is what jax.profiler's own reader, XProf, jaxlib's JSON and the reference script say."""
import collections
import decimal
import gzip
import json
import subprocess
import sys
from urllib.parse import quote

import pytest
from common import reference_script, view_profile

from added import own

STEPS = 3
PLAIN, TRACER, SHARDED = "plain", "python tracer ✓", "sharded"
DIRECTORIES = {PLAIN: 1, TRACER: 1, "named": 2, SHARDED: 1}


def sessions(directory):
    return json.loads(view_profile("list", "--format=json", str(directory)).stdout)["sessions"]


def report(path, *options):
    return json.loads(view_profile("report", "--format=json", *options, str(path)).stdout)


def xplanes(root):
    found = sorted(root.rglob("*.xplane.pb"))
    assert len(found) == sum(DIRECTORIES.values())
    return found


def to_ns(us):
    return round(us * 1000)


def lines_of(xplane):
    """What jaxlib's own reader finds: (name, duration in ns) → count, over all lines."""
    from jax.profiler import ProfileData
    return collections.Counter((e.name, round(e.duration_ns))
                               for plane in ProfileData.from_file(str(xplane)).planes
                               for line in plane.lines for e in line.events)


def spans(events):
    """jaxlib writes the end of a name `a:b` only, with the whole in args.long_name
    (docs/reference/jax-cpu.md#event-names)."""
    return collections.Counter((e.get("args", {}).get("long_name", e["name"]), to_ns(e["dur"]))
                               for e in events if e.get("ph") == "X")


@pytest.mark.parametrize(("name", "count"), DIRECTORIES.items())
def test_each_capture_is_one_session_with_one_host(fresh, name, count):
    listed = sessions(fresh / name)
    assert len(listed) == count
    for s in listed:
        assert s["status"] == "ok" and len(s["hosts"]) == 1
        assert sorted(f["kind"] for f in s["files"]) == ["trace.json", "xplane"]


def test_sessions_keep_the_names_that_were_given(fresh):
    assert {s["name"].split("/")[-1] for s in sessions(fresh / "named")} == {"step 100 #1", "step_200"}


def test_the_directory_above_lists_them_all(fresh):
    listed = sessions(fresh)
    assert len(listed) == len({s["id"] for s in listed}) == sum(DIRECTORIES.values())


def test_figures_equal_the_reference(fresh):
    done = subprocess.run([sys.executable, str(reference_script()), "--ops", "100000",
                           *map(str, xplanes(fresh))], capture_output=True, text=True, check=True)
    for row in map(json.loads, done.stdout.splitlines()):
        ours = report(row["file"], "--group=raw")
        assert {d["name"] for d in ours["devices"]} == set(row["devices"])
        for device in ours["devices"]:
            want = row["devices"][device["name"]]
            assert device["events"] == want["events"] > 0
            assert device["breakdown"] == {k: want[k] for k in device["breakdown"]}
            assert calls_and_sums(ours, device["name"]) == {
                o["name"]: (o["calls"], o["total_ps"], o["self_ps"]) for o in want["ops"]}


def calls_and_sums(ours, device):
    out = {}
    for o in ours["ops"]:
        if o["device"] == device:
            calls, total, own = out.get(o["name"], (0, 0, 0))
            out[o["name"]] = calls + o["calls"], total + o["total_ps"], own + o["self_ps"]
    return out


def test_one_device_for_each_that_computed(fresh):
    assert [d["name"] for d in report(fresh / SHARDED)["devices"]] == [
        f"/host:CPU:{i}" for i in range(4)]
    assert len(report(fresh / PLAIN)["devices"]) == 1


def test_collectives_are_communication(fresh):
    ours = report(fresh / SHARDED, "--group=name")
    comm = [o for o in ours["ops"] if o["class"] == "communication"]
    assert {o["device"] for o in comm} == {f"/host:CPU:{i}" for i in range(4)}
    for i in range(4):
        assert sum(o["calls"] for o in comm if o["device"] == f"/host:CPU:{i}") == 2 * STEPS


def test_named_scopes_head_the_scopes(fresh):
    out = view_profile("top", "--group=scope", str(fresh / PLAIN)).stdout
    rows = [line for line in out.splitlines() if "_scope" in line]
    assert rows and "fresh_scope/" in rows[0]
    own = collections.Counter()
    for o in report(fresh / PLAIN, "--group=scope")["ops"]:
        own["fresh" if "/fresh_scope/" in o["name"] else "rest"] += o["self_ps"]
    assert own["fresh"] > own["rest"]


def test_events_counted_are_those_of_jaxs_own_reader(fresh):
    for xplane in xplanes(fresh):
        want = sum(lines_of(xplane).values())
        files = report(xplane)["session"]["files"]
        assert [f["events"] for f in files if f["kind"] == "xplane"] == [want], xplane


def test_the_trace_for_perfetto_has_every_event(fresh, viewer):
    """What is served is made of the xplane and lacks none of the events of either half; starts and ends are rounded to
    ns, so that a length may be one off."""
    v = viewer(fresh)
    for s in sessions(fresh):
        host = s["hosts"][0]
        status, headers, body = v.get(f"/trace/{quote(s['id'], safe='')}/{quote(host, safe='')}.json")
        assert status == 200 and headers["Content-Type"].startswith("application/json")
        served = own(json.loads(body))
        paths = {f["kind"]: fresh / f["path"] for f in s["files"]}
        stored = json.loads(gzip.decompress(paths["trace.json"].read_bytes()))["traceEvents"]
        for other in (lines_of(paths["xplane"]), spans(stored)):
            assert by_name(spans(served)) == by_name(other)
            total = sum(ns * n for (_, ns), n in other.items())
            assert abs(sum(ns * n for (_, ns), n in spans(served).items()) - total) <= sum(other.values())
        assert starts(served) == starts(stored)


def starts(events):
    """(name, start in ns, rounded half up) → count."""
    return collections.Counter((e["name"], int((decimal.Decimal(str(e["ts"])) * 1000 + decimal.Decimal("0.5")) // 1))
                               for e in events if e and e["ph"] == "X")


def by_name(counted):
    """name → events."""
    found = collections.Counter()
    for (name, _), n in counted.items():
        found[name] += n
    return found


def test_both_halves_tell_of_the_same_ops(fresh):
    """jaxlib's JSON lacks what joins an asynchronous op to its end, so lengths may differ there;
    which ops ran, and how often, may not."""
    for xplane in xplanes(fresh):
        halves = xplane, xplane.with_name(xplane.name.replace(".xplane.pb", ".trace.json.gz"))
        a, b = (collections.Counter() for _ in halves)
        for half, calls in zip(halves, (a, b)):
            for o in report(half, "--group=raw")["ops"]:
                calls[o["device"], o["name"]] += o["calls"]
        assert a == b


def test_xprof_shows_the_same_op_events(fresh):
    """XProf's trace viewer adds lines of its own and renames steps; an op it leaves as it is."""
    from xprof.convert import raw_to_tool_data
    for xplane in xplanes(fresh):
        data, _ = raw_to_tool_data.xspace_to_tool_data([str(xplane)], "trace_viewer", {})
        theirs = collections.Counter(
            e["args"]["hlo_op"] for e in json.loads(data)["traceEvents"]
            if e.get("ph") == "X" and "hlo_op" in e.get("args", {}))
        ours = collections.Counter()
        for o in report(xplane, "--group=raw")["ops"]:
            ours[o["name"]] += o["calls"]
        assert ours == theirs
