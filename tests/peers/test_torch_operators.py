"""PyTorch's own table of operators, key_averages(), beside `--group operator` of the same recording. VP_TORCH is a Python that
has PyTorch.

key_averages() counts an operator that only calls itself once (aten::div_ inside of aten::div_): `calls` without `inner_calls`."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = os.environ.get("VP_TORCH")
PROGRAM = os.environ.get("VIEW_PROFILE", ROOT / "build/release/view_profile")
RECORD = """
import json, sys, torch
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(256, 64)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
    for _ in range(5):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
p.export_chrome_trace(sys.argv[1])
json.dump({e.key: [e.count, e.self_cpu_time_total] for e in p.key_averages()}, sys.stdout)
"""


@pytest.mark.skipif(not TORCH, reason="SKIPPED: VP_TORCH names no Python with PyTorch")
def test_operators_are_those_of_key_averages(tmp_path):
    trace = tmp_path / "run.pt.trace.json"
    done = subprocess.run([TORCH, "-c", RECORD, trace], capture_output=True, text=True, check=True, timeout=300)
    peers = json.loads(done.stdout)
    done = subprocess.run([PROGRAM, "top", "--group", "operator", "--top", "1000", "--format", "json", trace], capture_output=True,
                          text=True, check=True, timeout=60)
    ours = {}
    for op in json.loads(done.stdout)["ops"]:
        calls, self_us = ours.get(op["name"], (0, 0))
        ours[op["name"]] = calls + op["calls"] - op["inner_calls"], self_us + op["self_ps"] / 1e6
    operators = {e["name"] for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "cpu_op"}
    assert len(operators) > 20 and operators <= set(peers)
    for name in operators:
        shown = ours[name]
        assert shown[0] == peers[name][0], name
        assert shown[1] == pytest.approx(peers[name][1], abs=0.01 + 0.002 * shown[0]), name
