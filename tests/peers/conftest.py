"""What the peer tests share: fresh profiles made by the installed JAX, and view_profile serving.
Everything here needs scripts/requirements-peers.txt, which scripts/test --peers installs."""
import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "golden"))

BUILDS = ("asan", "dev", "release")

# The Python whose JAX is profiled: VP_JAX, else the newest JAX (scripts/newest_jax), else the one of these tests.
NEWEST_JAX = ROOT / "build" / "jax" / "bin" / "python"
JAX = os.environ.get("VP_JAX") or (str(NEWEST_JAX) if NEWEST_JAX.exists() else sys.executable)


def find_program():
    named = os.environ.get("VIEW_PROFILE")
    built = [ROOT / "build" / b / "view_profile" for b in BUILDS]
    path = named or next((str(p) for p in built if p.exists()), None)
    assert path and os.path.exists(path), "no view_profile: build it, or name it in VIEW_PROFILE"
    return path


class Viewer:
    """view_profile serving a directory on a free port."""

    def __init__(self, directory, *options, env=None):
        self.process = subprocess.Popen(
            [find_program(), "serve", "--port", "0", "--no-browser", *options, str(directory)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})})
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(re.search(r":(\d+)/", line).group(1))

    def get(self, target):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", target)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, errors


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """Four log directories with five sessions that nobody has seen before."""
    root = tmp_path_factory.mktemp("fresh profiles")
    done = subprocess.run([sys.executable, str(HERE / "capture_runs.py"), str(root)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    return root


@pytest.fixture
def viewer(request):
    """viewer(directory, …): serves it until the test ends."""
    made = []

    def make(*args, **named):
        made.append(Viewer(*args, **named))
        return made[-1]

    yield make
    for one in made:
        one.stop()
