"""/tensorboard/ID with the real TensorBoard and its profile plugin: the link we redirect to is one
that it understands, the run is there with its tools, and its caches stay out of the profile
directory. Only `scripts/test --peers` runs this; TensorBoard lies beside this Python."""
import gzip
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from common import TRACES

ROOT = Path(__file__).resolve().parents[2]
XPLANE = TRACES / "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
TENSORBOARD = Path(sys.executable).with_name("tensorboard")
RUN = "2026_02_03_04_05_06"

pytestmark = pytest.mark.skipif(not TENSORBOARD.exists(), reason=f"no TensorBoard at {TENSORBOARD}")


def program() -> str:
    path = os.environ.get("VIEW_PROFILE", str(ROOT / "build/dev/view_profile"))
    assert os.path.exists(path), f"{path} is missing: build it, or set VIEW_PROFILE"
    return path


def free_port() -> int:
    """Below the ports that the kernel hands to clients, as 6006 is: none takes it meanwhile."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port


def ask(port: int, path: str) -> bytes:
    """A GET as curl does it, gunzipped where the plugin packs without being asked."""
    body = urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).read()
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def tree(root: Path):
    return sorted((str(p.relative_to(root)), p.stat().st_mtime_ns) for p in root.rglob("*"))


def scratches(tmp_path: Path):
    return list((tmp_path / "temp").glob("view_profile_*"))


@pytest.fixture
def logs(tmp_path):
    made = tmp_path / "logs/train/plugins/profile" / RUN
    made.mkdir(parents=True)
    shutil.copyfile(XPLANE, made / "vm.xplane.pb")
    return tmp_path / "logs"


class Viewer:
    def __init__(self, tmp_path, logs, tensorboard_port):
        (tmp_path / "temp").mkdir()
        env = {**os.environ, "VIEW_PROFILE_TENSORBOARD": str(TENSORBOARD),
               "TMPDIR": str(tmp_path / "temp")}
        self.process = subprocess.Popen(
            [program(), "serve", str(logs), "--port", "0", "--no-browser", "--tensorboard-port",
             str(tensorboard_port)], stdout=subprocess.PIPE, env=env, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline()).group(1))

    def location(self) -> str:
        sessions = json.loads(ask(self.port, "/api/v1/sessions"))["sessions"]
        for _ in range(180):
            c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            c.request("GET", f"/tensorboard/{sessions[0]['id']}")
            answer = c.getresponse()
            text = answer.read().decode()
            if answer.status == 303:
                return answer.getheader("Location")
            assert answer.status == 200, text
            time.sleep(0.5)
        raise AssertionError("TensorBoard did not answer within 90 s")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=30) == 0


def check_link(location: str) -> int:
    parts = urlsplit(location)
    query = {k: v[0] for k, v in parse_qs(parts.query).items()}
    assert parts.hostname == "127.0.0.1" and parts.fragment == "profile"
    assert query["run"] in json.loads(ask(parts.port, "/data/plugin/profile/runs"))
    tools = json.loads(ask(parts.port, f"/data/plugin/profile/run_tools?run={query['run']}"))
    assert query["tag"] in tools
    hosts = json.loads(ask(parts.port, "/data/plugin/profile/hosts?run="
                           f"{query['run']}&tag={query['tag']}"))
    assert query["hosts"] in [h["hostname"] for h in hosts]
    trace = json.loads(ask(parts.port, f"/data/plugin/profile/data?run={query['run']}&tag="
                           f"{query['tag']}&hosts={query['hosts']}"))
    assert any(e.get("ph") == "X" for e in trace["traceEvents"])
    return parts.port


def test_our_own_tensorboard_opens_the_run(tmp_path, logs):
    before = tree(logs)
    viewer = Viewer(tmp_path, logs, free_port())
    try:
        port = check_link(viewer.location())
        scratch = scratches(tmp_path)
        assert len(scratch) == 1
        assert len(list(scratch[0].rglob("*"))) > 4, "XProf writes its caches into the scratch"
    finally:
        viewer.stop()
    assert tree(logs) == before
    assert scratches(tmp_path) == []
    with socket.socket() as s:
        assert s.connect_ex(("127.0.0.1", port)) != 0


def test_a_tensorboard_that_runs_already_is_used(tmp_path, logs):
    port = free_port()
    theirs = subprocess.Popen([str(TENSORBOARD), "--logdir", str(logs), "--host", "127.0.0.1",
                               "--port", str(port)], stderr=subprocess.PIPE, text=True)
    try:
        while f":{port}/" not in (line := theirs.stderr.readline()):
            assert line, "TensorBoard ended"
        viewer = Viewer(tmp_path, logs, port)
        try:
            assert check_link(viewer.location()) == port
        finally:
            viewer.stop()
        assert theirs.poll() is None
    finally:
        theirs.terminate()
        theirs.wait()
