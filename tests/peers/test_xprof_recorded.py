"""What examples/mnist_profiling recorded of itself, through the installed XProf: its trace viewer and
its overview tell of the same zones, ops and steps as view_profile."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import PROGRAM, ps, view_profile  # noqa: E402

PS_OF_US = 1e6


def record(where):
    program = pathlib.Path(PROGRAM).resolve().parent / "examples" / "mnist_profiling"
    # to a program that records, VIEW_PROFILE says that it shall
    env = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    subprocess.run([program, "--steps", "9", "--start-step", "3", "--output-dir", where], check=True,
                   stdout=subprocess.DEVNULL, timeout=120, env=env)
    return where


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    path = record(tmp_path_factory.mktemp("ours"))
    # XProf writes its caches into the run: it gets a copy
    theirs = tmp_path_factory.mktemp("theirs")
    subprocess.run(["cp", "-r", f"{path}/.", theirs], check=True)
    report = json.loads(view_profile("report", "--format=json", str(path)).stdout)
    return report, sorted(str(p) for p in theirs.rglob("*.xplane.pb"))


def tool(planes, name):
    from xprof.convert import raw_to_tool_data
    return json.loads(raw_to_tool_data.xspace_to_tool_data(planes, name, {})[0])


def summed(events):
    out = {}
    for e in events:
        calls, total = out.get(e["name"], (0, 0.0))
        out[e["name"]] = calls + 1, total + e["dur"] * PS_OF_US
    return out


def test_the_trace_viewer_shows_the_same_events(ours):
    report, planes = ours
    events = tool(planes, "trace_viewer")["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    zones = summed(e for e in events if e.get("ph") == "X" and process[e["pid"]] == "/host:CPU")
    assert zones
    steps = {f"train {n}" for n in range(3, 8)}
    assert steps <= set(zones)  # by the names that XProf gives to steps
    for op in report["host_ops"]:
        if op["name"] == "train":
            continue
        calls, total = zones[op["name"]]
        assert calls == op["calls"] == 5
        assert total == pytest.approx(op["total_ps"], abs=1000 * calls)
    spans = summed(e for e in events if e.get("ph") == "X" and process[e["pid"]].startswith("/device:"))
    for op in report["ops"]:
        calls, total = spans[op["name"]]
        assert calls == op["calls"] == 5
        assert total == pytest.approx(op["total_ps"], abs=1000 * calls)


def step_table(tables):
    """XProf's steps as dicts by column, and what it says above them."""
    (table,) = [part for part in tables if "steptime_ms_average" in part.get("p", {})]
    ids = [c["id"] for c in table["cols"]]
    return [dict(zip(ids, (c.get("v") for c in row["c"]))) for row in table["rows"]], table["p"]


@pytest.mark.parametrize("name", ["overview_page", "input_pipeline_analyzer"])
def test_the_overview_and_the_input_pipeline_have_our_steps(ours, name):
    """Every step by its name with its time to the picosecond; the mean, the extremes and the sample's
    standard deviation to the tenth of a millisecond in which XProf says them."""
    report, planes = ours
    steps = report["steps"]
    rows, said = step_table(tool(planes, name))
    want = [(f"train {s['number']}", s["dur_ps"]) for s in steps["list"]]
    assert len(want) == 5  # of more, XProf leaves the first and the last out
    assert [(r["stepnum"], ps(str(r["stepTimeMs"]), "ms")) for r in rows] == want
    durations = [dur for _, dur in want]
    # ours are of the steps that count: a busy machine may make the first one warm-up; XProf's of all
    counted = [s["dur_ps"] for s in steps["list"] if not s["warm_up"] and not s["partial"]]
    assert len(counted) == steps["counted"] >= 4
    assert steps["mean_ps"] == round(statistics.mean(counted))
    assert (steps["min_ps"], steps["max_ps"]) == (min(counted), max(counted))
    for key, value in (("average", statistics.mean(durations)), ("minimum", min(durations)),
                       ("maximum", max(durations)),
                       ("standard_deviation", statistics.stdev(durations))):
        assert float(said[f"steptime_ms_{key}"]) == pytest.approx(value / 1e9, abs=0.0501), key
    for r in rows:  # what XProf divides a step into is the whole step
        parts = sum(ps(str(r[k]), "ms") for k in r if k.endswith("TimeMs") and k != "stepTimeMs")
        assert parts == ps(str(r["stepTimeMs"]), "ms")


def test_the_pod_viewer_has_our_steps(ours):
    report, planes = ours
    theirs = [ps(str(core["totalDurationUs"]))
              for step in tool(planes, "pod_viewer")["podStatsSequence"]["podStatsMap"]
              for core in step["podStatsPerCore"].values()]
    assert theirs == [s["dur_ps"] for s in report["steps"]["list"]]
