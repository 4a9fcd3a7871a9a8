"""Collectives among parts of the devices, as the installed JAX runs them: the mesh, which we do not read, says who
belongs together, and every call waits for its own members only."""
import json
import subprocess
import sys
from pathlib import Path

import pytest
from common import view_profile

ORDER = [[0, 3, 1, 2], [7, 5, 6, 4]]
STEPS = 4
DOWN = [sorted(pair) for pair in zip(*ORDER)]
ALONG = [sorted(row) for row in ORDER]
EXPECTED = {("all-reduce", 2): DOWN, ("all-to-all", 2): DOWN, ("all-reduce", 4): ALONG, ("all-gather", 4): ALONG}


def ids(text):
    out = []
    for run in text.split(","):
        ends, _, step = run.partition(":")
        first, _, last = ends.partition("-")
        out += range(int(first), int(last or first) + 1, int(step or 1))
    return out


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    root = tmp_path_factory.mktemp("mesh")
    script = Path(__file__).with_name("mesh_run.py")
    subprocess.run([sys.executable, script, root, json.dumps(ORDER), str(STEPS)], check=True, timeout=300)
    xplane, = root.rglob("*.xplane.pb")
    return json.loads(view_profile("report", "--format=json", str(xplane)).stdout)


def test_members_are_those_of_the_mesh(ours):
    seen = set()
    for c in ours["collectives"]:
        groups = EXPECTED[c["kind"], c["group_size"]]
        device = int(c["device"].rpartition(":")[2])
        assert ids(c["members"]) == next(g for g in groups if device in g), c
        assert c["groups"] == len(groups) and c["count"] == STEPS
        seen.add((c["kind"], c["group_size"], device))
    assert len(seen) == len(EXPECTED) * 8


def test_every_call_is_matched_among_its_members(ours):
    assert ours["balance"]["matched"] == STEPS * sum(len(groups) for groups in EXPECTED.values())
    for c in ours["collectives"]:
        starts = {d: r["sample_start_ps"] for d in ids(c["members"]) for r in ours["collectives"]
                  if r["device"].endswith(f":{d}") and (r["kind"], r["group_size"]) == (c["kind"], c["group_size"])}
        assert c["wait_ps"] == sum(max(s[i] for s in starts.values()) - c["sample_start_ps"][i] for i in range(STEPS))
