"""`view_profile capture` of a TensorFlow program that runs (tests/peers/tf_loop.py). TensorFlow is 1 GB and wants a protobuf of
its own: VP_TENSORFLOW names a Python that has it (python -m venv V && V/bin/pip install tensorflow-cpu==2.21.0)."""
import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest
from conftest import find_program

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ.get("VP_TENSORFLOW", sys.executable)
WAIT = 180


def has_tensorflow():
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
    return subprocess.run([PYTHON, "-c", look]).returncode == 0


@pytest.fixture(scope="module")
def target():
    if not has_tensorflow():
        pytest.skip("SKIP: no tensorflow; VP_TENSORFLOW names a Python that has it")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([PYTHON, str(HERE / "tf_loop.py"), str(port)], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as loop:
        assert loop.stdout.readline() == "ready\n"
        yield f"127.0.0.1:{port}"
        loop.communicate(timeout=WAIT)


def view_profile(*args):
    return subprocess.run([find_program(), *map(str, args)], capture_output=True, text=True, timeout=WAIT)


def test_its_ops_are_shown(target, tmp_path):
    done = view_profile("capture", target, "--duration", "1s", "--out", tmp_path)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "MatMul" in done.stdout and "page: " in done.stdout
    (file,) = (tmp_path / "plugins" / "profile").rglob("*.xplane.pb")
    made = json.loads(view_profile("report", "--format", "json", file).stdout)
    assert {"_MklMatMul", "MatMul"} & {o["name"] for o in made["host_ops"]}


def test_only_one_at_a_time(target, tmp_path):
    with subprocess.Popen([find_program(), "capture", target, "--duration", "3s", "--out", tmp_path, "--name", "a", "--format",
                           "json"], stdout=subprocess.PIPE, text=True) as first:
        while '"profiling"' not in first.stdout.readline():
            pass
        second = view_profile("capture", target, "--duration", "1s", "--out", tmp_path, "--name", "b", "--format", "json")
        assert second.returncode == 6
        assert json.loads(second.stdout.splitlines()[-1])["targets"][0]["code"] == "busy", second.stderr
        first.communicate(timeout=WAIT)
        assert first.returncode == 0
