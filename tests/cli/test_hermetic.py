"""tests/hermetic.py: tests do not see the files and settings of the user. tests/reuse.py: a result is reused only for the same
inputs."""
import json
import os
import pathlib
import subprocess
import sys

import pytest
from traces import ROOT

HERMETIC = ROOT / "tests" / "hermetic.py"
SHOW = "import json, os, sys; json.dump(dict(os.environ), sys.stdout)"


@pytest.fixture
def outer(tmp_path):
    """The environment of a user who has captured targets before, and has credentials."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VP_TEST_PLACE", "XDG_", "CCACHE"))}
    (tmp_path / ".cache" / "ccache").mkdir(parents=True)
    return env | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache"), "TMPDIR": str(tmp_path),
                  "AWS_SECRET_ACCESS_KEY": "mine", "VIEW_PROFILE_TOKEN": "mine", "VIEW_PROFILE": "program", "BROWSER": "mine"}


def run(env, *command):
    return subprocess.run([sys.executable, HERMETIC, *command], env=env, capture_output=True, text=True)


def test_a_runner_has_a_home_of_its_own(outer, tmp_path):
    inner = json.loads(run(outer, sys.executable, "-c", SHOW).stdout)
    place = inner["VP_TEST_PLACE"]
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        assert inner[name].startswith(place + "/"), name
    assert not {"AWS_SECRET_ACCESS_KEY", "VIEW_PROFILE_TOKEN", "BROWSER"} & set(inner)
    assert inner["VIEW_PROFILE"] == "program" and inner["CCACHE_DIR"] == str(tmp_path / ".cache" / "ccache")
    assert not pathlib.Path(place).exists()


def test_a_runner_in_a_runner_shares_its_home(outer):
    made = run(outer, sys.executable, HERMETIC, sys.executable, "-c", SHOW + "; assert os.path.isdir(os.environ['HOME'])")
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("code,want", [("sys.exit(7)", 7), ("os.kill(os.getpid(), 15)", 143)])
def test_the_exit_code_is_that_of_the_command(outer, code, want):
    assert run(outer, sys.executable, "-c", f"import os, sys; {code}").returncode == want


@pytest.fixture
def checkout(tmp_path):
    """A repository with a build, and the script that looks at both."""
    root = tmp_path / "checkout"
    for name in ("tests/reuse.py", "tests/traces.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text((ROOT / name).read_text())
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("a")
    (root / "tests" / "data").mkdir()
    (root / "tests" / "data" / "SOURCES.tsv").write_text("")
    (root / "build").mkdir()
    (root / "build" / "program").write_text("1")
    (root / "build" / "program").chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".gitignore").write_text("/build/\n")
    return root


def reuse(root, *args, **env):
    done = subprocess.run([sys.executable, root / "tests" / "reuse.py", *args], cwd=root, env=os.environ | env,
                          capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def test_a_key_changes_with_every_input(checkout):
    def keys(**env):
        return reuse(checkout, "key", "cli", **env), reuse(checkout, "key", "golden", **env)

    first = keys()
    assert first == keys() and None not in first
    assert all(a != b for a, b in zip(first, keys(VP_TRACES="/none")))
    (checkout / "docs" / "a.md").write_text("b")
    assert keys()[0] != first[0] and keys()[1] == first[1], "the golden tests do not read documents"
    second = keys()
    (checkout / "build" / "program").write_text("2")
    assert keys() == second, "the build is made of the other inputs"
    (checkout / "new.c").write_text("")
    assert keys()[1] != second[1]


def test_a_result_is_found_for_its_key_only(checkout):
    assert reuse(checkout, "find", "cli", "k") is None
    reuse(checkout, "keep", "cli", "k", "12", "3")
    assert reuse(checkout, "find", "cli", "k").split()[:2] == ["12", "3"]
    assert reuse(checkout, "find", "cli", "other") is None and reuse(checkout, "find", "golden", "k") is None
