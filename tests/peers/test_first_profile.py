"""docs/first-jax.md with the installed JAX: its program is recorded as the page says, and the findings are those of the page."""
import json
import os
import subprocess

import pytest
from conftest import JAX, ROOT, find_program

PROGRAM = ROOT / "examples" / "first_profile" / "train_jax.py"


@pytest.fixture(scope="module")
def fired(tmp_path_factory):
    """The ids of the findings before the change and after it."""
    def of(*options):
        directory = tmp_path_factory.mktemp("first")
        env = {**os.environ, "JAX_PLATFORMS": "cpu"}
        subprocess.run([JAX, PROGRAM, *options], cwd=directory, env=env, check=True, capture_output=True, timeout=180)
        done = subprocess.run([find_program(), "findings", "--format", "json", directory / "logs"], check=True, capture_output=True)
        return [finding["id"] for finding in json.loads(done.stdout)["findings"] if finding["status"] == "fired"]
    return of(), of("--pad")


def test_recompilation_comes_first_and_is_gone_after_the_change(fired):
    before, after = fired
    assert before[0] == "F10" and "F10" not in after
