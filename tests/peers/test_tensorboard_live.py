"""The whole way: view_profile starts the real TensorBoard (or XProf), a real Chromium follows the link
to the run without a click, and the profile directory is afterwards what it was, byte for byte. And
the ways in which that goes wrong for real."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import time

import pytest
from common import TRACES
from conftest import ROOT, Viewer, find_program
from test_tensorboard_fresh import (ask, children, ended, free_port, redirected, tensorboards,
                                    wait_until)

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(sys.executable).parent
XPLANE = TRACES / "jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb"
NEWEST, OLDER = "2026_02_03_04_05_06", "2025_02_03_04_05_06"
SHOWN = "XLA Ops"  # a track of the run, as XProf's trace viewer names it
SECONDS = 120

pytestmark = pytest.mark.skipif(not (BIN / "tensorboard").exists(), reason=f"SKIP: no TensorBoard in {BIN}")


def tree(root):
    """Names, kinds, sizes, times and contents of everything."""
    def entry(p):
        st = p.lstat()
        digest = hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else None
        return str(p.relative_to(root)), stat.S_IFMT(st.st_mode), st.st_size, st.st_mtime_ns, digest
    return sorted(map(entry, root.rglob("*")))


@pytest.fixture
def logs(tmp_path):
    root = tmp_path / "logs"
    for run in (NEWEST, OLDER):
        made = root / "train/plugins/profile" / run
        made.mkdir(parents=True)
        shutil.copyfile(XPLANE, made / "vm.xplane.pb")
    return root


@pytest.fixture
def chromium():
    """follow(url): what a browser shows in the end. Needs tests/browser's npm packages."""
    if not (ROOT / "tests/browser/node_modules/playwright-core").exists() or not \
            any(map(shutil.which, ("chromium", "chromium-headless-shell"))):
        pytest.skip("SKIP: no Chromium or no playwright-core (scripts/test installs both)")

    def follow(url, text=SHOWN):
        done = subprocess.run(["node", str(HERE / "follow.mjs"), url, text, str(SECONDS)],
                              capture_output=True, text=True, timeout=SECONDS + 60)
        assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-2000:])
        return json.loads(done.stdout)

    return follow


@pytest.fixture
def place(tmp_path, viewer):
    """serve(directory, …): with the TensorBoard of this Python, and what it needs to be told."""
    temp = tmp_path / "temp"
    temp.mkdir()

    def serve(directory, *options, **env):
        port = free_port()
        v = viewer(directory, "--tensorboard-port", str(port), *options,
                   env={"VIEW_PROFILE_TENSORBOARD": str(BIN / "tensorboard"), "TMPDIR": str(temp), **env})
        v.tensorboard_port, v.temp = port, temp
        return v

    return serve


def newest(v):
    deadline = time.monotonic() + 30
    while True:
        sessions = json.loads(v.get("/api/v1/sessions")[2])["sessions"]
        if sessions or time.monotonic() > deadline:
            return sessions[0]["id"]
        time.sleep(0.1)


def refused(v, target):
    """The page that says why not."""
    deadline = time.monotonic() + SECONDS
    while True:
        status, _, body = v.get(target)
        if status != 200 or time.monotonic() > deadline:
            assert status == 503, (status, body)
            return body.decode()
        time.sleep(0.3)


def check_landing(seen, run, port, shell=True):
    """XProf writes its own way into the address bar; TensorBoard keeps to its root."""
    last = seen["visited"][-1]
    assert last.startswith(f"http://127.0.0.1:{port}/{'?' if shell else ''}"), seen["visited"]
    assert f"?run={run}&tag=trace_viewer" in last
    texts = [f["text"] for f in seen["frames"]]
    tool = next(f for f in seen["frames"] if "/trace_viewer_index.html" in f["url"])
    assert SHOWN in tool["text"]
    assert any(run in t and "Trace Viewer" in t for t in texts), texts
    if shell:
        assert "PROFILE" in texts[0]


def our_tensorboard(v):
    return next(iter(tensorboards(v.process.pid)), None)


def test_ui_tensorboard_lands_on_the_newest_run_with_nothing_to_click(tmp_path, logs, chromium):
    """As the user does it: one command. The browser is a program that notes its address."""
    note, temp = tmp_path / "address", tmp_path / "temp"
    temp.mkdir()
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {note}.new && mv {note}.new {note}\n')
    browser.chmod(0o755)
    before, port = tree(logs), free_port()
    env = {**os.environ, "BROWSER": str(browser), "TMPDIR": str(temp),
           "PATH": f"{BIN}:{os.environ['PATH']}"}
    for name in ("SSH_CONNECTION", "VIEW_PROFILE_TENSORBOARD"):
        env.pop(name, None)
    process = subprocess.Popen(
        [find_program(), "--profile-dir", str(logs), "--ui=tensorboard", "--port", "0",
         "--tensorboard-port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
        text=True)
    try:
        assert wait_until(note.exists, 30), "no browser was opened"
        seen = chromium(note.read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    check_landing(seen, f"train-{NEWEST}", port)
    assert "/tensorboard/" in seen["visited"][0]
    assert tree(logs) == before
    left = [p.name for p in temp.iterdir() if p.name.startswith("view_profile")]
    assert left == [], "its caches went with it"


def test_it_opens_what_a_program_recorded_of_itself(tmp_path, place, chromium):
    """examples/mnist_profiling by its defaults but fewer steps, and the newest of its captures."""
    program = pathlib.Path(find_program()).resolve().parent / "examples/mnist_profiling"
    env = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    subprocess.run([program, "--steps", "9", "--start-step", "3", "--output-dir", tmp_path / "logs"],
                   check=True, stdout=subprocess.DEVNULL, timeout=SECONDS, env=env)
    v = place(tmp_path / "logs")
    seen = chromium(f"http://127.0.0.1:{v.port}/tensorboard/{newest(v)}", "/host:CPU")
    tool = next(f["text"] for f in seen["frames"] if "/trace_viewer_index.html" in f["url"])
    assert "mnist_profiling" in tool  # the thread that trained


def test_killed_meanwhile_it_comes_back_by_itself(place, logs, chromium):
    v = place(logs)
    target = f"/tensorboard/{newest(v)}"
    port, _ = redirected(v, target)
    killed = our_tensorboard(v)
    os.kill(killed, signal.SIGKILL)

    def answers():
        try:
            return ask(port, "/data/plugin/profile/version") != b""
        except (OSError, AssertionError):
            return False

    assert wait_until(lambda: ended(killed), 10)
    assert wait_until(answers, SECONDS), "nobody asked us for it again, and it is there"
    assert our_tensorboard(v) != killed
    check_landing(chromium(f"http://127.0.0.1:{v.port}{target}"), newest(v), port)


def test_a_port_that_is_taken(place, logs):
    """By a program that is no TensorBoard and answers nonsense."""
    v = place(logs)
    with socket.socket() as other:
        other.bind(("127.0.0.1", v.tensorboard_port))
        other.listen()
        other.settimeout(0)
        port, query = redirected(v, f"/tensorboard/{newest(v)}")
    assert v.tensorboard_port < port < v.tensorboard_port + 20
    assert query["run"] in json.loads(ask(port, "/data/plugin/profile/runs"))


def test_the_message_of_a_taken_port_is_known(tmp_path):
    """The words by which we see that another port may help are still TensorBoard's."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = subprocess.run([str(BIN / "tensorboard"), "--logdir", str(tmp_path), "--host",
                               "127.0.0.1", "--port", str(other.getsockname()[1])],
                              capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode != 0 and "could not bind to port" in done.stderr


# ---- A Python in which something is missing ----

@pytest.fixture
def python_without(tmp_path):
    """python_without(name, …): a Python environment with all that this one has but the packages
    whose names begin so; the rest are links. Returns its bin."""
    made = tmp_path / "python"
    site = next(pathlib.Path(p) for p in sys.path if p.endswith("site-packages"))

    def make(*names):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
        target = next(made.glob("lib/python3*/site-packages"))
        for entry in site.iterdir():
            if not entry.name.lower().startswith(names):
                (target / entry.name).symlink_to(entry)
        script = made / "bin/tensorboard"
        script.write_text(f"#!{made}/bin/python3\nimport sys\nfrom tensorboard.main import run_main\n"
                          "sys.exit(run_main())\n")
        script.chmod(0o755)
        return made

    return make


def test_without_the_plugin(place, logs, python_without):
    env = python_without("xprof")
    v = place(logs, VIEW_PROFILE_TENSORBOARD=str(env / "bin/tensorboard"))
    page = refused(v, f"/tensorboard/{newest(v)}")
    assert "TensorBoard is installed without the profile plugin." in page
    assert "<code>pip install xprof</code>" in page
    assert our_tensorboard(v) is None, "one that cannot show it is not kept"


def test_without_tensorboard(place, logs, python_without):
    env = python_without("tensorboard", "xprof")
    (env / "bin/tensorboard").unlink()
    v = place(logs, VIEW_PROFILE_TENSORBOARD="", PATH=str(env / "bin"))
    page = refused(v, f"/tensorboard/{newest(v)}")
    assert "TensorBoard is not installed." in page
    assert "<code>pip install tensorboard xprof</code>" in page


def test_with_a_protobuf_that_is_too_old(place, logs, python_without):
    """The runtime says that it is older than the code that XProf's protoc made; the failure that
    follows is the real one."""
    env = python_without("google")
    target = next(env.glob("lib/python3*/site-packages"))
    site = next(pathlib.Path(p) for p in sys.path if p.endswith("site-packages"))
    (target / "google").mkdir()
    for entry in (site / "google").iterdir():
        if entry.name != "protobuf":
            (target / "google" / entry.name).symlink_to(entry)
    shutil.copytree(site / "google/protobuf", target / "google/protobuf")
    version = target / "google/protobuf/runtime_version.py"
    text = version.read_text()
    lines = ["MAJOR = 3" if line.startswith("MAJOR = ") else line for line in text.splitlines()]
    assert "MAJOR = 3" in lines
    version.write_text("\n".join(lines))
    v = place(logs, VIEW_PROFILE_TENSORBOARD=str(env / "bin/tensorboard"))
    page = refused(v, f"/tensorboard/{newest(v)}")
    assert "The installed protobuf is too old for TensorBoard or its profile plugin." in page
    assert "<code>pip install --upgrade protobuf</code>" in page
    assert str(env) not in page


# ---- XProf alone ----

def listening(pid):
    """The addresses on which a process and its children listen, as /proc writes them."""
    inodes = set()
    for p in (pid, *children(pid)):
        for fd in pathlib.Path(f"/proc/{p}/fd").iterdir():
            try:
                inodes.add(os.readlink(fd).removeprefix("socket:[").rstrip("]"))
            except OSError:
                pass
    rows = [line.split() for table in ("tcp", "tcp6")
            for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    return [r[1].split(":")[0] for r in rows if r[3] == "0A" and r[9] in inodes]


def test_xprof_alone_is_started_on_loopback_and_followed(place, logs, python_without, chromium):
    env = python_without("tensorboard-2", "tensorboard_data", "nothing")
    (env / "bin/tensorboard").unlink()
    (env / "bin/xprof").write_text("#!/bin/sh\nexit 1\n")  # the Python beside it is what counts
    (env / "bin/xprof").chmod(0o755)
    before = tree(logs)
    v = place(logs, VIEW_PROFILE_TENSORBOARD="", PATH=str(env / "bin"))
    target = f"/tensorboard/{newest(v)}"
    seen = chromium(f"http://127.0.0.1:{v.port}{target}")
    check_landing(seen, newest(v), v.tensorboard_port, shell=False)
    pid = our_tensorboard(v)
    assert set(listening(pid)) == {"0100007F"}, "XProf's own way is to listen on every address"
    v.stop()
    assert tree(logs) == before
    assert wait_until(lambda: ended(pid), 10)


def test_the_users_own_xprof_is_used(place, logs):
    port, grpc = free_port(), free_port()
    theirs = subprocess.Popen([str(BIN / "xprof"), "server", "--logdir", str(logs), "--port", str(port),
                               "--grpc_port", str(grpc)], stderr=subprocess.DEVNULL)

    def answers():
        try:
            return json.loads(ask(port, "/data/plugin/profile/runs"))
        except (OSError, AssertionError):
            return False

    try:
        assert wait_until(answers, SECONDS)
        v = Viewer(logs, "--tensorboard-port", str(port))
        try:
            status, headers, _ = v.get(f"/tensorboard/{newest(v)}")
            assert status == 303
            assert headers["Location"].startswith(f"http://127.0.0.1:{port}/?run=train%2F{NEWEST}&tag=")
            assert "#profile" not in headers["Location"]
        finally:
            v.stop()
    finally:
        theirs.terminate()
        theirs.wait()


# ---- What it leaves ----

def test_an_archive_stays_as_it_is(place, tmp_path, logs, chromium):
    held = tmp_path / "held"
    held.mkdir()
    with tarfile.open(held / "runs.tar.gz", "w:gz") as t:
        t.add(logs / "train", "train")
    before = tree(held)
    v = place(held)
    run = newest(v)
    seen = chromium(f"http://127.0.0.1:{v.port}/tensorboard/{run}")
    check_landing(seen, run, v.tensorboard_port)
    v.stop()
    assert tree(held) == before


def test_in_place_the_caches_stay(place, logs, chromium):
    v = place(logs, "--tensorboard-in-place")
    run = newest(v)
    check_landing(chromium(f"http://127.0.0.1:{v.port}/tensorboard/{run}"), run, v.tensorboard_port)
    v.stop()
    kept = {p.name for p in (logs / "train/plugins/profile" / NEWEST).iterdir()}
    assert {"vm.xplane.pb", "vm.SSTABLE"} <= kept, kept
    assert [p.name for p in (logs / "train/plugins/profile" / OLDER).iterdir()] == ["vm.xplane.pb"]
    assert sorted(p.name for p in logs.iterdir()) == ["train"]
