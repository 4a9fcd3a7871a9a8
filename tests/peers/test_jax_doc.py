"""docs/jax.md, run as it stands with the installed JAX: its program in train.py, its commands beside it. Only the port is a
free one, since the page's may be somebody's."""
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

import pytest
from conftest import JAX, ROOT, find_program

WAIT = 180
PAGE = (ROOT / "docs" / "jax.md").read_text()
JOB, = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
RUN, CAPTURE, WATCH, TREND = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)


class Shell:
    """Where the page's lines are typed."""

    def __init__(self, root):
        (root / "bin").mkdir()
        (root / "bin" / "view_profile").symlink_to(find_program())
        (root / "bin" / "python").write_text(f'#!/bin/sh\nexec "{JAX}" "$@"\n')
        (root / "bin" / "python").chmod(0o755)
        self.dir = root / "work"
        self.dir.mkdir()
        self.env = {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}", "JAX_PLATFORMS": "cpu", "COLUMNS": "130"}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def text(self, block):
        return block.replace("9012", str(self.port))

    def start(self, block):
        return subprocess.Popen(["bash", "-euo", "pipefail", "-c", self.text(block)], cwd=self.dir, env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def run(self, block):
        child = self.start(block)
        out, said = child.communicate(timeout=WAIT)
        assert (child.returncode, said) == (0, ""), said
        return out


@contextlib.contextmanager
def running(child, sign=signal.SIGKILL):
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, sign)
        child.communicate(timeout=WAIT)


def wait_for(port, child):
    for _ in range(WAIT * 10):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert child.poll() is None, child.stderr.read()
        time.sleep(0.1)
    raise AssertionError("the profiler does not listen")


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """With the page's job running."""
    one = Shell(tmp_path_factory.mktemp("jax.md"))
    (one.dir / "train.py").write_text(one.text(JOB))
    with running(one.start(RUN)) as job:
        wait_for(one.port, job)
        one.run(f"view_profile capture 127.0.0.1:9012 --duration 1s --out {one.dir.parent}/warm")  # it has compiled
        yield one


def test_what_runs_is_twenty_lines():
    lines = [line for block in (JOB, RUN, CAPTURE, WATCH, TREND) for line in block.splitlines()]
    assert len(lines) == 20
    assert sum("profiler" in line or "named_scope" in line for line in JOB.splitlines()) == 4


def test_a_capture_and_its_scopes(shell):
    out = shell.run(CAPTURE)
    ops, scopes = out.split("page: ")
    assert ops.startswith("run ") and f"host 127.0.0.1_{shell.port}" in ops and "dot_general" in ops
    assert "jit(step)/encoder/" in scopes and "jit(step)/decoder/" in scopes


def test_a_watch_and_its_history(shell):
    with running(shell.start(WATCH), signal.SIGTERM) as watch:
        lines = [watch.stdout.readline() for _ in range(2)]
    assert watch.returncode == 0
    assert "baseline: median step " in lines[0], lines
    assert re.search(r"  (noise|SLOWER|regression|improvement): median step .* than the baseline's", lines[1]), lines
    head, *rows = shell.run(TREND).split("\n\n")[0].splitlines()
    assert head.split()[:3] == ["captured", "run", "steps"]
    assert len(rows) >= 2 and all(int(row.split()[3]) > 5 for row in rows)
