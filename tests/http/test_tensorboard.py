"""/tensorboard/ID against a stand-in for TensorBoard: where the redirect leads, what is started and
how, and what is said when it goes wrong. The real one is in tests/peers."""
import gzip
import http.client
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from traces import TRACES

ROOT = Path(__file__).resolve().parents[2]
FAKE = Path(__file__).with_name("fake_tensorboard.py")
XPLANE = TRACES / "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
RUN, TWO = "2026_02_03_04_05_06", "2026_02_03_04_05_07"


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

    def __init__(self, tmp: Path, directory: Path, *options, **env):
        self.temp = tmp / "temp"
        self.temp.mkdir(exist_ok=True)
        self.tensorboard_port = free_port()
        self.log = self.temp / "fake.json"  # where it may write: in the sandbox it is, as we are
        environment = {**os.environ, "TMPDIR": str(self.temp), "FAKE_TB_LOG": str(self.log),
                       "VIEW_PROFILE_TENSORBOARD": str(FAKE), **env}
        self.process = subprocess.Popen(
            [program(), "serve", str(directory), "--port", "0", "--no-browser",
             "--tensorboard-port", str(self.tensorboard_port), *options],
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
        for _ in range(100):  # a large archive takes its time to be listed
            sessions = json.loads(self.get("/api/v1/sessions").text)["sessions"]
            for s in sessions:
                if s["name"].endswith(end):
                    return s["id"]
            time.sleep(0.2)
        raise AssertionError(sessions)

    def until_ready(self, path: str) -> Answer:
        for _ in range(100):
            answer = self.get(path)
            if answer.status != 200:
                return answer
            assert '<meta http-equiv="refresh"' in answer.text
            assert "Starting TensorBoard" in answer.text and "<progress" in answer.text
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

    def make(where=directory, *options, **env):
        made.append(Viewer(tmp_path, where, *options, **env))
        return made[-1]

    yield make
    for one in made:
        one.stop()


class Foreign:
    """A TensorBoard that somebody else runs on the port."""

    def __init__(self, port: int, logdir: Path, mode="", cwd=None, **env):
        self.process = subprocess.Popen(
            [sys.executable, str(FAKE), "--logdir", str(logdir), "--host", "127.0.0.1", "--port",
             str(port)], env={**os.environ, "FAKE_TB": mode, **env}, cwd=cwd,
            stderr=subprocess.PIPE, text=True)
        self.process.stderr.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def target(answer: Answer, path="/", fragment="profile"):
    assert answer.status == 303, answer.text
    parts = urlsplit(answer.location)
    assert parts.scheme == "http" and parts.hostname == "127.0.0.1" and parts.path == path
    assert parts.fragment == fragment
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
    """Names, kinds, sizes, times and contents."""
    def entry(p):
        st = p.lstat()
        content = os.readlink(p) if p.is_symlink() else p.read_bytes() if p.is_file() else ""
        return (str(p.relative_to(root)), st.st_mode, st.st_size, st.st_mtime_ns, st.st_ctime_ns,
                content)
    return sorted(map(entry, root.rglob("*")), key=lambda e: e[0])


# ---- One that runs already ----

def test_a_running_tensorboard_that_knows_the_run_is_used(viewer, directory):
    v = viewer()
    with Foreign(v.tensorboard_port, directory):
        port, query = target(v.get(f"/tensorboard/{v.session(RUN)}"))
    assert port == v.tensorboard_port
    assert query == {"run": f"train/{RUN}", "tag": "trace_viewer@", "hosts": "vm"}
    assert v.started() is None


@pytest.mark.parametrize("options", [(), ("--no-sandbox",)])
def test_its_log_directory_may_lie_elsewhere_in_the_tree(viewer, directory, options):
    """A relative one is known by where the process stands, which the sandbox hides from us."""
    v = viewer(directory, *options)
    for logdir, cwd, run in ((directory / "train", None, RUN), ("train", directory, RUN),
                             (directory.parent, None, f"logs/train/{RUN}")):
        with Foreign(v.tensorboard_port, logdir, cwd=cwd):
            _, query = target(v.get(f"/tensorboard/{v.session(RUN)}"))
        assert query["run"] == run
    assert v.started() is None


def test_one_over_a_copy_of_the_directory_is_not_this_directory(viewer, directory, tmp_path):
    """The same names, other files."""
    shutil.copytree(directory, tmp_path / "copy")
    v = viewer()
    with Foreign(v.tensorboard_port, tmp_path / "copy"):
        port, _ = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    assert port != v.tensorboard_port
    assert v.started() is not None


def test_a_running_xprof_is_used(viewer, directory):
    """It does not say its log directory; its arguments do. TensorBoard's #profile means nothing to
    it."""
    v = viewer()
    with Foreign(v.tensorboard_port, directory, mode="xprof"):
        port, query = target(v.get(f"/tensorboard/{v.session(RUN)}"), fragment="")
    assert port == v.tensorboard_port and query["run"] == f"train/{RUN}"
    assert v.started() is None


def test_one_on_another_port_is_found_where_tensorboards_tell(viewer, directory):
    """TensorBoard writes where it listens, and under which prefix, for its own notebooks."""
    v, port = viewer(), free_port()
    info = v.temp / ".tensorboard-info"
    info.mkdir()
    (info / "pid-1.info").write_text("{")
    (info / "pid-2.info").write_text(json.dumps({"port": free_port(), "path_prefix": ""}))
    (info / "pid-3.info").symlink_to("/dev/zero")
    os.mkfifo(info / "pid-4.info")
    (info / "pid-5.info").write_text(json.dumps({"port": port, "path_prefix": "/tb"}))
    (info / "pid-6.info").write_text(json.dumps({"port": port, "path_prefix": "/\r\nX: y"}))
    with Foreign(port, directory, FAKE_TB_PREFIX="/tb"):
        found, query = target(v.get(f"/tensorboard/{v.session(RUN)}"), path="/tb/")
    assert found == port and query["run"] == f"train/{RUN}"
    assert v.started() is None


def test_several_hosts_open_together_or_one(viewer, directory):
    v = viewer()
    with Foreign(v.tensorboard_port, directory):
        _, query = target(v.get(f"/tensorboard/{v.session(TWO)}"))
        assert query == {"run": f"train/{TWO}", "tag": "trace_viewer@", "hosts": "a,b.c"}
        _, query = target(v.get(f"/tensorboard/{v.session(TWO)}?host=b.c"))
        assert query == {"run": f"train/{TWO}", "tag": "trace_viewer@", "hosts": "b.c"}
        assert v.get(f"/tensorboard/{v.session(TWO)}?host=no-such").status == 404


def test_more_hosts_than_it_shows_together_open_the_overview(viewer, directory):
    run = directory / "train/plugins/profile" / RUN
    for i in range(10):
        (run / f"h{i}.xplane.pb").write_bytes((run / "vm.xplane.pb").read_bytes())
    v = viewer()
    with Foreign(v.tensorboard_port, directory):
        _, query = target(v.get(f"/tensorboard/{v.session(RUN)}"))
    assert query == {"run": f"train/{RUN}", "tag": "overview_page"}


def test_a_tensorboard_that_does_not_know_the_run_is_left_alone(viewer):
    """It would silently open another run."""
    v = viewer()
    with Foreign(v.tensorboard_port, Path("/nonexistent"), mode=f"runs=x/{RUN},y/{RUN},other"):
        port, query = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    assert port != v.tensorboard_port
    assert query["tag"] == "trace_viewer@"


# ---- Our own ----

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
    """And the next one of us removes the tree that the killed one left."""
    v = viewer()
    v.until_ready(f"/tensorboard/{v.session(RUN)}")
    v.kill()
    assert gone(v.started()["pid"])
    left = Path(v.started()["argv"][1])
    assert left.is_dir()
    (v.temp / "view_profile_tensorboard_mine").mkdir()  # never ours: it has no lock
    again = viewer()
    again.until_ready(f"/tensorboard/{again.session(RUN)}")
    assert not left.exists()
    other = viewer()  # a living one's tree stays
    other.until_ready(f"/tensorboard/{other.session(RUN)}")
    trees = [p.name for p in v.temp.glob("view_profile_tensorboard_*")]
    assert len(trees) == 3 and "view_profile_tensorboard_mine" in trees


def test_our_own_is_started_again_when_it_dies(viewer):
    v = viewer()
    path = f"/tensorboard/{v.session(RUN)}"
    port, _ = target(v.until_ready(path))
    pid = v.started()["pid"]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while v.started()["pid"] == pid and time.monotonic() < deadline:
        time.sleep(0.05)  # nobody asks: it comes back by itself
    assert v.started()["pid"] != pid
    assert target(v.until_ready(path))[0] == port


@pytest.mark.waits
def test_one_that_keeps_dying_is_given_up(viewer):
    v = viewer(FAKE_TB="brief")
    path = f"/tensorboard/{v.session(RUN)}"
    v.until_ready(path)
    deadline = time.monotonic() + 40
    while (answer := v.get(path)).status != 503:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert "exited 6 times in a row, last with exit code 9" in answer.text
    assert "restarting" in answer.text


def test_a_port_that_is_taken_is_left_alone(viewer):
    """Taken before we look, by somebody who is no TensorBoard."""
    v = viewer()
    with socket.socket() as other:
        other.bind(("127.0.0.1", v.tensorboard_port))
        other.listen()
        start = time.monotonic()
        first = v.get(f"/tensorboard/{v.session(RUN)}")
        assert time.monotonic() - start < 5 and first.status in (200, 303)
    port, _ = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    assert v.tensorboard_port < port < v.tensorboard_port + 20


def test_a_port_that_is_taken_meanwhile_is_left_for_the_next(viewer):
    """Taken between our look and its start: it says so and ends, as the real one does."""
    v = viewer(FAKE_TB="taken")
    port, _ = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    assert v.tensorboard_port < port < v.tensorboard_port + 20


XPROF_SERVER = """
import argparse, json, os, sys
sys.path.insert(0, os.environ["FAKE_DIR"])
import fake_tensorboard
class _pywrap_profiler_plugin:
    def initialize_stubs(address): raise SystemExit("stubs")
    def start_grpc_server(port, n): raise SystemExit("a worker for the network")
def _get_wildcard_address(port): return "0.0.0.0"
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--logdir"); parser.add_argument("--port", type=int)
    args = parser.parse_args()
    _pywrap_profiler_plugin.initialize_stubs("0.0.0.0:50051")
    _pywrap_profiler_plugin.start_grpc_server(50051, 1)
    sys.argv += ["--host", _get_wildcard_address(args.port)]
    return fake_tensorboard.main()
"""


@pytest.fixture
def xprof(tmp_path):
    """A Python environment with XProf, and nothing else in PATH. Returns what has to be set."""
    bin_dir, module = tmp_path / "bin", tmp_path / "lib/xprof"
    bin_dir.mkdir()
    module.mkdir(parents=True)
    (module / "__init__.py").touch()
    (module / "server.py").write_text(XPROF_SERVER)
    (bin_dir / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (bin_dir / "xprof").write_text("#!/bin/sh\necho never run as it is; exit 1\n")
    for script in bin_dir.iterdir():
        script.chmod(0o755)
    return {"VIEW_PROFILE_TENSORBOARD": "", "PATH": str(bin_dir), "FAKE_TB": "xprof",
            "PYTHONPATH": str(module.parent), "FAKE_DIR": str(FAKE.parent)}


def test_xprof_alone_is_started_on_loopback_only(viewer, xprof):
    v = viewer(**xprof)
    port, query = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"), fragment="")
    assert port == v.tensorboard_port and query["run"] == v.session(RUN)
    argv = v.started()["argv"]
    assert argv[0] == "--logdir" and argv[2:] == ["--port", str(port), "--host", "127.0.0.1"]


def test_an_xprof_that_cannot_be_kept_on_loopback_is_not_started(viewer, xprof):
    server = Path(xprof["PYTHONPATH"]) / "xprof/server.py"
    server.write_text(server.read_text().replace("_get_wildcard_address", "_address_to_bind"))
    v = viewer(**xprof)
    answer = v.until_ready(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503 and "_get_wildcard_address" in answer.text
    assert v.started() is None


# ---- What it sees ----

def scratch_runs(v) -> Path:
    return Path(v.started()["argv"][1]) / "plugins/profile"


def test_a_member_of_an_archive_is_copied_out(viewer, tmp_path):
    archive = tmp_path / "runs.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        z.write(XPLANE, f"train/plugins/profile/{RUN}/vm.xplane.pb")
    v = viewer(archive)
    _, query = target(v.until_ready(f"/tensorboard/{v.session(RUN)}"))
    copy = scratch_runs(v) / query["run"] / "vm.xplane.pb"
    assert not copy.is_symlink() and copy.read_bytes() == XPLANE.read_bytes()


@pytest.mark.slow
def test_unpacking_a_large_member_is_shown_and_keeps_nobody_waiting(viewer, tmp_path):
    """TensorBoard is not asked before the copy is whole."""
    archive = tmp_path / "runs.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as t:
        info = tarfile.TarInfo(f"plugins/profile/{RUN}/vm.xplane.pb")
        noise = b"\x22\x80\x80\x40" + random.Random(1).randbytes(1 << 20)  # a host name, over and over
        body = XPLANE.read_bytes() + noise * 160
        info.size = len(body)
        t.addfile(info, io.BytesIO(body))
    v = viewer(archive)
    path = f"/tensorboard/{v.session(RUN)}"
    seen, slowest = set(), 0
    deadline = time.monotonic() + 60
    while (answer := v.get(path)).status == 200:
        assert time.monotonic() < deadline
        if found := re.search(r'<progress max="100" value="(\d+)"', answer.text):
            seen.add(int(found.group(1)))
            start = time.monotonic()
            assert v.get("/").status == 200
            slowest = max(slowest, time.monotonic() - start)
        time.sleep(0.02)
    _, query = target(answer)
    assert len(seen) > 1 and max(seen) <= 100
    assert slowest < 2
    assert (scratch_runs(v) / query["run"] / "vm.xplane.pb").read_bytes() == body


def test_packed_loose_and_odd_files_are_laid_out_for_it(viewer, tmp_path):
    """A .gz, a file outside any run, a run directory without plugins/profile, hosts alike but for
    characters that TensorBoard does not take: all become runs, and nothing is touched."""
    root = tmp_path / "odd"
    (root / "deep/er/run").mkdir(parents=True)
    shutil.copyfile(XPLANE, root / "loose.xplane.pb")
    for name in ("a b.xplane.pb", "a?b.xplane.pb"):
        shutil.copyfile(XPLANE, root / "deep/er/run" / name)
    packed = root / "plugins/profile" / RUN
    packed.mkdir(parents=True)
    (packed / "vm.xplane.pb.gz").write_bytes(gzip.compress(XPLANE.read_bytes(), mtime=0))
    before = tree(root)
    v = viewer(root)
    hosts = {}
    for s in json.loads(v.get("/api/v1/sessions").text)["sessions"]:
        _, query = target(v.until_ready(f"/tensorboard/{s['id']}"))
        files = {p.name for p in (scratch_runs(v) / query["run"]).iterdir()}
        assert {f"{h}.xplane.pb" for h in query["hosts"].split(",")} == files
        for f in files:
            assert (scratch_runs(v) / query["run"] / f).read_bytes() == XPLANE.read_bytes()
        hosts[s["name"]] = query["hosts"]
    assert hosts == {RUN: "vm", "odd": "loose", "deep/er/run": "a_b,a_b~2"}
    v.stop()
    assert tree(root) == before


def test_a_session_that_grows_is_laid_out_anew(viewer, directory):
    v = viewer()
    path = f"/tensorboard/{v.session(RUN)}"
    target(v.until_ready(path))
    shutil.copyfile(XPLANE, directory / "train/plugins/profile" / RUN / "second.xplane.pb")
    time.sleep(2.1)  # how old the list of sessions may be
    assert len(json.loads(v.get("/api/v1/sessions").text)["sessions"]) == 3
    _, query = target(v.until_ready(path))
    assert query["hosts"] == "second,vm"
    assert {p.name for p in (scratch_runs(v) / query["run"]).iterdir()} == {
        "second.xplane.pb", "vm.xplane.pb"}


def test_in_place_its_caches_stay_with_the_run(viewer, directory):
    (directory / "loose.xplane.pb").write_bytes(XPLANE.read_bytes())
    v = viewer(directory, "--tensorboard-in-place")
    _, query = target(v.until_ready(f"/tensorboard/{v.session(TWO)}"))
    assert query["hosts"] == "a,b.c"
    run = scratch_runs(v) / query["run"]
    assert run.is_symlink() and run.resolve() == directory / "train/plugins/profile" / TWO
    (run / "a.SSTABLE").write_text("as XProf does")
    # A file that is no run of its own is linked alone: the caches of others are none of its business.
    _, query = target(v.until_ready(f"/tensorboard/{v.session('logs')}"))
    assert not (scratch_runs(v) / query["run"]).is_symlink()
    v.stop()
    assert (directory / "train/plugins/profile" / TWO / "a.SSTABLE").exists()
    assert sorted(p.name for p in directory.iterdir()) == ["loose.xplane.pb", "plugins", "train"]


# ---- When it does not work ----

def test_a_session_without_xplane_says_so(viewer):
    v = viewer()
    answer = v.get(f"/tensorboard/{v.session('2026_01_01_00_00_00')}")
    assert answer.status == 404
    assert "xplane" in answer.text
    assert v.started() is None
    ident = v.session('2026_01_01_00_00_00')
    for link in ["session/%s/" % ident, "perfetto/%s" % ident]:
        assert f'href="../{link}"' in answer.text or f'href="./{link}"' in answer.text, answer.text
    assert "2026_01_01_00_00_00</a>" in answer.text


def test_the_waiting_page_never_counts_to_zero(viewer):
    v = viewer(FAKE_TB="slow")
    first = v.get(f"/tensorboard/{v.session(RUN)}")
    assert first.status == 200 and "just now." in first.text
    assert " 0 s ago" not in first.text


def test_an_unknown_session_is_404(viewer):
    assert viewer().get("/tensorboard/no-such").status == 404


def test_a_tensorboard_that_ends_is_quoted_and_can_be_tried_again(viewer):
    v = viewer(FAKE_TB="fail")
    path = f"/tensorboard/{v.session(RUN)}"
    first = v.until_ready(path)
    assert first.status == 503
    assert "exited with code 3" in first.text
    assert "&lt;b&gt;cannot&lt;/b&gt; find libcudart" in first.text
    pid = v.started()["pid"]
    assert v.until_ready(path).status == 503
    assert v.started()["pid"] != pid


def test_a_tensorboard_without_the_plugin_says_what_to_install(viewer):
    v = viewer(FAKE_TB="noplugin")
    answer = v.until_ready(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503
    assert "TensorBoard is installed without the profile plugin." in answer.text
    assert "<code>pip install xprof</code>" in answer.text
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


TRACEBACK = '''Traceback (most recent call last):
  File "/home/user/venv/bin/tensorboard", line 5, in <module>
    from tensorboard.main import run_main
  File "/home/user/venv/lib64/python3.13/site-packages/tensorboard/main.py", line 27, in <module>
    from tensorboard import default
'''
IN_PLUGIN = '''E0421 08:52:53.103637 140219640803328 application.py:125] Failed to load plugin ProfilePluginLoader.load; ignoring it.
Traceback (most recent call last):
  File "/home/user/venv/lib/python3.10/site-packages/tensorboard/backend/application.py", line 123, in TensorBoardWSGIApp
    plugin = loader.load(context)
  File "/home/user/venv/lib/python3.10/site-packages/tensorboard_plugin_profile/protobuf/diagnostics_pb2.py", line 36, in <module>
    _descriptor.FieldDescriptor(
'''
# How it fails → the texts that users report (tensorboard#6964, #7064, #5708, #6307; xprof#609).
FAILURES = {
    "imghdr": ("fail", TRACEBACK + '''  File ".venv/lib64/python3.13/site-packages/tensorboard/plugins/image/images_plugin.py", line 18, in <module>
    import imghdr
ModuleNotFoundError: No module named 'imghdr'
''', "imghdr, which Python 3.13 removed",
               "pip install --upgrade &quot;tensorboard&gt;=2.21&quot;"),
    "pkg_resources": ("fail", TRACEBACK + '''    import pkg_resources
ModuleNotFoundError: No module named 'pkg_resources'
''', "pkg_resources, which setuptools 82 removed", "pip install &quot;setuptools&lt;81&quot;"),
    "old plugin": ("noplugin", IN_PLUGIN + '''TypeError: Descriptors cannot not be created directly.
If this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0.
If you cannot immediately regenerate your protos, some other possible workarounds are:
 1. Downgrade the protobuf package to 3.20.x or lower.
 2. Set PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python (but this will use pure-Python parsing and will be much slower).

More information: https://developers.google.com/protocol-buffers/docs/news/2022-05-06#python-updates
''', "too old for the installed protobuf", "pip install --upgrade tensorboard xprof"),
    "old protobuf": ("noplugin", IN_PLUGIN + '''google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions when loading plugin/xprof/protobuf/xplane.proto: gencode 6.31.1 runtime 5.29.5. Runtime version cannot be older than the linked gencode version. See Protobuf version guarantees at https://protobuf.dev/support/cross-version-runtime-guarantee.
''', "installed protobuf is too old", "pip install --upgrade protobuf"),
    "older protobuf": ("fail", TRACEBACK + '''ImportError: cannot import name 'runtime_version' from 'google.protobuf' (/home/user/venv/lib/python3.12/site-packages/google/protobuf/__init__.py)
''', "installed protobuf is too old", "pip install --upgrade protobuf"),
    "native library": ("noplugin", "W0421 plugin.py] Unable to load profiler plugin. Import error: "
                    "libstdc++.so.6: version `GLIBCXX_3.4.30' not found\n",
                    "native library", "pip install --force-reinstall xprof"),
    "two of them": ("fail", TRACEBACK + "ValueError: Duplicate plugins for name projector\n",
                    "Two versions of TensorBoard", "pip install --force-reinstall tensorboard xprof"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_known_failures_are_one_sentence_and_a_command(viewer, name):
    mode, text, sentence, command = FAILURES[name]
    v = viewer(FAKE_TB=mode, FAKE_TB_SAYS=text)
    answer = v.until_ready(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503
    lead = re.search(r'<p class="lead">(.*?)</p>', answer.text, re.S).group(1)
    assert sentence in lead and lead.count(". ") == 0 and lead.endswith(".")
    assert re.search(r"<code>(.*?)</code>", answer.text).group(1).endswith(command)
    assert "/home/user" not in answer.text


def test_its_last_lines_are_shown_escaped_and_without_paths(viewer):
    said = ("".join(f"line {i}\n" for i in range(30)) +
            "open('/usr/lib/python3/x.py') <script>alert(1)</script> \x1b[31m\n"
            "see http://example.test/a/b and and/or /opt/secret/dir/, ok\n")
    v = viewer(FAKE_TB="slow", FAKE_TB_SAYS=said)
    path = f"/tensorboard/{v.session(RUN)}"
    while '<pre class="log">' not in (text := v.get(path).text):
        assert "Starting TensorBoard" in text
        time.sleep(0.05)
    log = re.search(r'<pre class="log">(.*?)</pre>', text, re.S).group(1)
    assert len(log.splitlines()) == 8
    assert "line 29" in log and "line 1\n" not in log
    assert "&lt;script&gt;" in log and "<script>alert" not in text and "\x1b" not in text
    assert "/usr/lib" not in log and "…/x.py" in log
    assert "http://example.test/a/b" in log and "and/or" in log and "/opt/secret" not in log


def test_no_failure_shows_paths_of_this_machine(viewer, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    v = viewer(VIEW_PROFILE_TENSORBOARD=str(broken))
    answer = v.get(f"/tensorboard/{v.session(RUN)}")
    assert answer.status == 503 and "cannot start …/broken" in answer.text
    assert str(tmp_path) not in answer.text


def test_a_browser_on_another_machine_gets_the_tunnel(viewer, directory):
    """TensorBoard has no password, so it stays on loopback."""
    v = viewer(directory, "--allow-host", "node7")
    with Foreign(v.tensorboard_port, directory):
        answer = v.get(f"/tensorboard/{v.session(RUN)}", Host=f"node7:{v.port}")
    assert answer.status == 200
    port = v.tensorboard_port
    assert f"ssh -N -L {port}:localhost:{port} " in answer.text
    assert f'href="http://127.0.0.1:{port}/?run=train%2F{RUN}&amp;tag=' in answer.text


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
        for query in (f"?next=http://{evil}/", f"?base=//{evil}", f"?run={evil}"):
            answer = v.get(f"/tensorboard/{v.session(RUN)}{query}")
            assert evil not in answer.location
            target(answer)


TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def guarded(viewer, directory, *options):
    v = viewer(directory, *options, VIEW_PROFILE_TOKEN=TOKEN)
    sessions = json.loads(v.get("/api/v1/sessions", **BEARER).text)["sessions"]
    return v, next(s["id"] for s in sessions if s["name"].endswith(RUN))


def test_a_token_is_not_undone_by_a_tensorboard(viewer, directory):
    """It would show everything to whoever reaches its port, under any Host."""
    v, session = guarded(viewer, directory)
    assert v.get(f"/tensorboard/{session}").status == 401
    answer = v.get(f"/tensorboard/{session}", **BEARER)
    assert answer.location is None
    assert "--tensorboard-unguarded" in answer.text
    assert v.started() is None
    with Foreign(v.tensorboard_port, directory):  # the user's own is theirs
        assert v.get(f"/tensorboard/{session}", **BEARER).status == 303


def test_a_tensorboard_without_a_guard_is_asked_for(viewer, directory):
    v, session = guarded(viewer, directory, "--tensorboard-unguarded")
    for _ in range(200):
        answer = v.get(f"/tensorboard/{session}", **BEARER)
        if answer.status == 303:
            break
        time.sleep(0.1)
    assert answer.location.startswith(f"http://127.0.0.1:{v.tensorboard_port}/")
    assert v.started() is not None
