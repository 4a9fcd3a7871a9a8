"""/tensorboard/ID against a stand-in for TensorBoard: where the redirect leads, what is started and
how, and what is said when it goes wrong. The real one is in tests/peers."""
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
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_tensorboard.py")
TRACES = Path(os.environ.get("VP_TRACES", ROOT.parent / "shared" / "traces"))
XPLANE = TRACES / "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
RUN, TWO = "2026_02_03_04_05_06", "2026_02_03_04_05_07"

pytestmark = pytest.mark.skipif(not XPLANE.exists(), reason=f"no real profiles at {TRACES}")


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


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.location = response.getheader("Location")
        self.text = response.read().decode()


class Viewer:
    """view_profile over a directory, with the stand-in as its TensorBoard."""

    def __init__(self, tmp: Path, directory: Path, **env):
        self.temp = tmp / "temp"
        self.temp.mkdir(exist_ok=True)
        self.tensorboard_port = free_port()
        self.log = tmp / "fake.json"
        environment = {**os.environ, "TMPDIR": str(self.temp), "FAKE_TB_LOG": str(self.log),
                       "VIEW_PROFILE_TENSORBOARD": str(FAKE), **env}
        self.process = subprocess.Popen(
            [program(), "serve", str(directory), "--port", "0", "--no-browser",
             "--tensorboard-port", str(self.tensorboard_port)],
            stdout=subprocess.PIPE, env=environment, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)/", line).group(1))

    def get(self, path: str, **fields) -> Answer:
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        c.request("GET", path, headers={k.replace("_", "-"): v for k, v in fields.items()})
        answer = Answer(c.getresponse())
        c.close()
        return answer

    def session(self, end: str) -> str:
        sessions = json.loads(self.get("/api/v1/sessions").text)["sessions"]
        return next(s["id"] for s in sessions if s["name"].endswith(end))

    def until_ready(self, path: str) -> Answer:
        for _ in range(100):
            answer = self.get(path)
            if answer.status != 200:
                return answer
            assert '<meta http-equiv="refresh"' in answer.text
            assert "Starting TensorBoard" in answer.text
            time.sleep(0.1)
        raise AssertionError("still starting after 10 s")

    def started(self) -> dict | None:
        return json.loads(self.log.read_text()) if self.log.exists() else None

    def stop(self):
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(timeout=20) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def directory(tmp_path):
    root = tmp_path / "logs"
    for run, hosts in ((RUN, ["vm"]), (TWO, ["a", "b.c"])):
        made = root / "train/plugins/profile" / run
        made.mkdir(parents=True)
        for host in hosts:
            shutil.copyfile(XPLANE, made / f"{host}.xplane.pb")
    json_only = root / "plugins/profile/2026_01_01_00_00_00"
    json_only.mkdir(parents=True)
    (json_only / "vm.trace.json").write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,'
                                             '"name":"a","ts":0,"dur":1}]}')
    return root


@pytest.fixture
def viewer(tmp_path, directory, request):
    made = []

    def make(where=directory, **env):
        made.append(Viewer(tmp_path, where, **env))
        return made[-1]

    yield make
    for one in made:
        one.stop()


class Foreign:
    """A TensorBoard that somebody else runs on the port."""

    def __init__(self, port: int, logdir: Path, mode=""):
        self.process = subprocess.Popen(
            [sys.executable, str(FAKE), "--logdir", str(logdir), "--host", "127.0.0.1", "--port",
             str(port)], env={**os.environ, "FAKE_TB": mode}, stderr=subprocess.PIPE, text=True)
        self.process.stderr.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def target(answer: Answer):
    assert answer.status == 303, answer.text
    parts = urlsplit(answer.location)
    assert parts.scheme == "http" and parts.hostname == "127.0.0.1" and parts.path == "/"
    assert parts.fragment == "profile"
    return parts.port, {k: v[0] for k, v in parse_qs(parts.query).items()}


def gone(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def tree(root: Path):
    return sorted((str(p.relative_to(root)), p.stat().st_mtime_ns) for p in root.rglob("*"))


def test_a_running_tensorboard_that_knows_the_run_is_used(viewer, directory):
    v = viewer()
    with Foreign(v.tensorboard_port, directory):
        port, query = target(v.get(f"/tensorboard/{v.session(RUN)}"))
    assert port == v.tensorboard_port
    assert query == {"run": f"train/{RUN}", "tag": "trace_viewer@", "hosts": "vm"}
    assert v.started() is None


def test_several_hosts_open_the_overview(viewer, directory):
    v = viewer()
    with Foreign(v.tensorboard_port, directory):
        _, query = target(v.get(f"/tensorboard/{v.session(TWO)}"))
        assert query == {"run": f"train/{TWO}", "tag": "overview_page"}
        _, query = target(v.get(f"/tensorboard/{v.session(TWO)}?host=b.c"))
        assert query == {"run": f"train/{TWO}", "tag": "trace_viewer@", "hosts": "b.c"}


def test_a_tensorboard_that_does_not_know_the_run_is_left_alone(viewer):
    """It would silently open another run."""
    v = viewer()
    with Foreign(v.tensorboard_port, Path("/nonexistent"), mode=f"runs=x/{RUN},y/{RUN},other"):
        port, query = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    assert port != v.tensorboard_port
    assert query["tag"] == "trace_viewer@"


def test_our_own_is_started_on_links_and_ends_with_us(viewer, directory):
    v = viewer(FAKE_TB="slow")
    before = tree(directory)
    path = f"/tensorboard/{v.session(RUN)}"
    first = v.get(path)
    assert first.status == 200 and "Starting TensorBoard" in first.text
    port, query = target(v.until_ready(path))
    assert port == v.tensorboard_port
    assert query["hosts"] == "vm" and query["run"] == v.session(RUN)

    fake = v.started()
    assert fake["argv"][2:] == ["--host", "127.0.0.1", "--port", str(port)]
    assert fake["argv"][0] == "--logdir"
    scratch = Path(fake["argv"][1])
    assert scratch.parent == v.temp and oct(scratch.stat().st_mode & 0o777) == "0o700"
    link = scratch / "plugins/profile" / query["run"] / "vm.xplane.pb"
    assert link.is_symlink() and link.resolve() == directory / "train/plugins/profile" / RUN / "vm.xplane.pb"
    # stdin, stdout, stderr, and the one that lists them.
    assert len(fake["fds"]) <= 4 and max(fake["fds"]) <= 3

    # Another session joins the same one.
    port2, query2 = target(v.until_ready(f"/tensorboard/{v.session(TWO)}"))
    assert port2 == port and query2["run"] == v.session(TWO)
    assert v.started()["pid"] == fake["pid"]

    (link.parent / "cache.SSTABLE").write_text("as XProf does")
    v.stop()
    assert gone(fake["pid"])
    assert not scratch.exists()
    assert tree(directory) == before


def test_our_own_ends_even_when_we_are_killed(viewer):
    if not shutil.which("setpriv"):
        pytest.skip("no setpriv(1): the child ends only with an orderly stop")
    v = viewer()
    v.until_ready(f"/tensorboard/{v.session(RUN)}")
    v.kill()
    assert gone(v.started()["pid"])


def test_a_member_of_an_archive_is_copied_out(viewer, tmp_path):
    archive = tmp_path / "runs.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        z.write(XPLANE, f"train/plugins/profile/{RUN}/vm.xplane.pb")
    v = viewer(archive)
    _, query = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    copy = Path(v.started()["argv"][1]) / "plugins/profile" / query["run"] / "vm.xplane.pb"
    assert not copy.is_symlink() and copy.read_bytes() == XPLANE.read_bytes()


def test_a_session_without_xplane_says_so(viewer):
    v = viewer()
    answer = v.get(f"/tensorboard/{v.session('2026_01_01_00_00_00')}")
    assert answer.status == 404
    assert "xplane" in answer.text
    assert v.started() is None


def test_an_unknown_session_is_404(viewer):
    assert viewer().get("/tensorboard/no-such").status == 404


def test_a_tensorboard_that_ends_is_quoted_and_can_be_tried_again(viewer):
    v = viewer(FAKE_TB="fail")
    path = f"/tensorboard/{v.session(RUN)}"
    first = v.until_ready(path)
    assert first.status == 503
    assert "exit code 3" in first.text
    assert "&lt;b&gt;cannot&lt;/b&gt; find libcudart" in first.text
    pid = v.started()["pid"]
    assert v.until_ready(path).status == 503
    assert v.started()["pid"] != pid


def test_a_tensorboard_without_the_plugin_says_what_to_install(viewer):
    v = viewer(FAKE_TB="noplugin")
    answer = v.until_ready(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503
    assert "pip install tensorboard xprof" in answer.text
    assert gone(v.started()["pid"])


def test_no_tensorboard_says_what_to_install(viewer, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    v = viewer(VIEW_PROFILE_TENSORBOARD="", PATH=str(empty))
    answer = v.get(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503
    assert "pip install tensorboard xprof" in answer.text


def test_python_without_the_module_says_what_to_install(viewer, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "python3").write_text('#!/bin/sh\necho "$0: No module named tensorboard" >&2\nexit 1\n')
    (bare / "python3").chmod(0o755)
    v = viewer(VIEW_PROFILE_TENSORBOARD="", PATH=str(bare))
    answer = v.until_ready(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503
    assert "pip install tensorboard xprof" in answer.text


def test_another_sites_link_starts_nothing(viewer):
    v = viewer()
    path = f"/tensorboard/{v.session(RUN)}"
    for site in ("cross-site", "same-site"):
        answer = v.get(path, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")
        assert answer.status in (200, 403) and "refresh" not in answer.text
    assert v.started() is None
    v.until_ready(path)
    assert v.started() is not None


def test_no_request_chooses_the_target(viewer, directory):
    v = viewer()
    evil = "evil.test"
    with Foreign(v.tensorboard_port, directory):
        for query in (f"?host={evil}", f"?next=http://{evil}/", f"?base=//{evil}", f"?run={evil}"):
            answer = v.get(f"/tensorboard/{v.session(RUN)}{query}")
            assert evil not in answer.location
            target(answer)


def test_a_silent_port_does_not_hang_the_page(viewer):
    v = viewer()
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", v.tensorboard_port))
        deaf.listen()
        start = time.monotonic()
        v.get(f"/tensorboard/{v.session(RUN)}")
        assert time.monotonic() - start < 5
