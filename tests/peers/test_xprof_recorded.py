"""What examples/mnist_profiling recorded of itself, through the installed XProf: its trace viewer and
its overview tell of the same zones, ops and steps as view_profile."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import PROGRAM, view_profile  # noqa: E402

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


def test_the_overview_opens(ours):
    _, planes = ours
    overview = tool(planes, "overview_page")
    assert any("cols" in part for part in overview)
