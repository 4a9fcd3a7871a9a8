"""Replays of programs (docs/reference/links.md#replay), on the recordings of tests/truth."""
import json
import pathlib
import subprocess

import pytest

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "truth" / "recorded"
FAST = {"log-norms", "gather-for-max", "clean-scan"}
PROFILES = [pytest.param(path, marks=[] if path.parent.name in FAST else pytest.mark.slow,
                         id=f"{path.parent.name}-{path.name.split('.')[0]}")
            for path in sorted(RECORDED.glob("*/*.xplane.pb.gz"))]


def report(program, path):
    argv = [program, "report", "--quiet", "--format", "json", path]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


def function(made, name):
    return next(f for f in made["user_functions"] if f["name"].startswith(name))


@pytest.mark.parametrize("path", PROFILES)
def test_unchanged_replay_takes_the_recorded_time(program, path):
    made = report(program, path)
    replay = made["replays"][0]
    assert abs(replay["replayed_ps"] - replay["recorded_ps"]) * 100 <= replay["recorded_ps"]
    assert replay["unwaited_ps"] <= replay["replayed_ps"]
    for f in made["user_functions"]:
        assert 0 <= f["without_ps"] <= replay["replayed_ps"], f
        assert f["max_ps"] <= f["total_ps"] and f["calls"] >= 1, f


def test_functions_are_counted(program):
    """10 steps, each with 24 norms, each norm a program and a read."""
    made = report(program, RECORDED / "log-norms" / "before.xplane.pb.gz")
    norms = function(made, "log_norms (log-norms.py:")
    assert (norms["calls"], norms["launches"], norms["reads"]) == (10, 240, 240)
    assert made["replays"][0]["waiter"] == norms["name"]
    assert not any(f["name"].startswith("train ") for f in made["user_functions"])  # launches the step itself


@pytest.mark.parametrize("name, rule, fragment", [
    ("blocking-loss", "F8", "train (blocking-loss.py:32) waits for results"),
    ("log-norms", "F8", "reads results one by one: 240 in 10 calls"),
    ("eager-slices", "F48", "launches 485 in 5 calls"),
    ("python-mask", "F3", "the host is in build_mask (python-mask.py:15): 12 calls")])
def test_predicted_savings(program, name, rule, fragment):
    first = report(program, RECORDED / name / "before.xplane.pb.gz")["findings"][0]
    assert first["id"] == rule and fragment in first["message"]
    assert first["impact"]["kind"] == "predicted"
    assert any("replay of the recorded program differs by" in c for c in first["caveats"])
    measured = json.loads((RECORDED / name / "measured.json").read_text())
    saved = 1 - measured["after"]["median_ms"] / measured["before"]["median_ms"]
    assert abs(first["impact"]["share_of_window"] - saved) < 0.15


def test_bounds_are_called_bounds(program):
    first = report(program, RECORDED / "float64" / "before.xplane.pb.gz")["findings"][0]
    assert first["id"] == "F47" and first["impact"]["kind"] == "bound"
