"""capture and watch with --out on servers that others wrote (test_store_servers.py): what lands there is what came, is read
from there as from here, and old runs of a watch go, of all that lies there nothing else."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cli"), str(HERE)]
from conftest import find_program  # noqa: E402

os.environ.setdefault("VIEW_PROFILE", find_program())
import fetching  # noqa: E402
from stores import Store, environment  # noqa: E402
from test_store_servers import EREFUSED, ETAG, SERVERS, address  # noqa: E402

pytest.importorskip("h2", reason="SKIP: scripts/requirements-peers.txt is not installed: h2")
import test_watch  # noqa: E402
from profiler_server import ProfilerServer, response  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
ENOTFOUND = -6


@pytest.fixture(scope="module", params=SERVERS)
def server(request, tmp_path_factory):
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as (url, env), Store(**env) as store:
        yield url, store, env


@pytest.fixture
def run(server, tmp_path):
    env = environment(**server[2]) | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "NO_COLOR": "1"}

    def go(*args, code=0):
        done = subprocess.run([os.environ["VIEW_PROFILE"], *map(str, args)], env=env, cwd=tmp_path, capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout
    return go


def test_removing(server):
    url, store, env = server
    for name in ("d/a", "d/b", "d/c d+ü"):
        assert store.write(address(url, name), name.encode()) is None
    remove = lambda name, **more: store.ask(fetching.REMOVE, address(url, name), **more)[1]  # noqa: E731
    version = store.head(address(url, "d/a"))[ETAG]
    assert store.write(address(url, "d/a"), b"another by now") is None
    assert remove("d/a", etag=version)[0] == EREFUSED and store.read(address(url, "d/a"))[0] == b"another by now"
    assert remove("d/a", etag=store.head(address(url, "d/a"))[ETAG]) is None and store.head(address(url, "d/a"))[0] == ENOTFOUND
    assert store.names(url + "/d") == ["b", "c d+ü"]
    assert remove("d/c d+ü") is None and remove("d/c d+ü") is None and remove("d/none", etag=b"1") is None
    assert store.names(url + "/d") == ["b"]
    assert remove("d/b") is None and store.list(url + "/d")[2][0] == ENOTFOUND
    assert remove("")[0] < 0  # never a bucket


def test_a_capture_lands_there(server, run, tmp_path):
    url, store, _ = server
    bytes_ = test_watch.profile(0)
    with ProfilerServer(lambda call: call.answer(response(bytes_))) as job:
        name = job.target.replace(":", "_") + ".xplane.pb"
        said = run("capture", job.target, "--duration", "10ms", "--out", url + "/logs", "--name", "one run")
        assert "mlp_fusion" in said
        assert store.read(address(url, f"logs/plugins/profile/one run/{name}"))[0] == bytes_
        run("capture", job.target, "--duration", "10ms", "--out", url + "/logs", "--name", "one run", code=6)
        run("capture", job.target, "--duration", "10ms", "--out", "here", "--name", "one run")
    rows = [run("top", at).splitlines()[1:] for at in ("here", url + "/logs")]
    assert rows[0] == rows[1] and len(rows[0]) > 4
    assert [s["name"] for s in json.loads(run("list", "--format", "json", url + "/logs"))["sessions"]] == ["one run"]


def test_a_watch_lands_there(server, run, tmp_path):
    url, store, _ = server
    theirs = "watched/plugins/profile/2020_01_01_00_00_00/a.xplane.pb"
    assert store.write(address(url, theirs), test_watch.profile(0)) is None
    with contextlib.ExitStack() as stack:
        job = test_watch.slow(test_watch.steady(test_watch.Job(stack), 3), 3, 3)
        out = run("watch", job.target, "--duration", "10ms", "--every", "200ms", "--times", 6, "--keep", 2, "--max-regression", "20%",
                  "--out", url + "/watched", "--format", "json", code=1)
    events = [json.loads(line) for line in out.splitlines()]
    assert [e["event"] for e in events] == ["capture"] * 6 and [e["slower"] for e in events] == [False] * 3 + [True] * 3
    made = [e["run"] for e in events]
    sessions = json.loads(run("list", "--format", "json", url + "/watched"))["sessions"]
    assert sorted(s["name"] for s in sessions) == sorted([made[0], *made[4:], "2020_01_01_00_00_00"])
    assert store.names(url + "/watched/plugins/profile") == sorted(s["name"] + "/" for s in sessions)
    trend = json.loads(run("trend", "--format", "json", url + "/watched/history.jsonl"))
    assert [r["session"]["name"] for r in trend["runs"]] == made
    assert "mlp" in run("top", url + "/watched", made[5])


@contextlib.contextmanager
def served(source, tmp_path, env):
    """What a server of a log directory with one run says, of whatever lies where."""
    child = subprocess.Popen([os.environ["VIEW_PROFILE"], "serve", "--profile-dir", source, "--port", "0", "--no-browser", "--ui", "perfetto"],
                             env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address_ = child.stdout.readline().strip().rstrip("/")

    def get(path):
        with urllib.request.urlopen(address_ + path, timeout=30) as r:
            return r.read()

    try:
        until = time.monotonic() + 30
        while not (found := json.loads(get("/api/v1/sessions"))["sessions"]) and time.monotonic() < until:
            time.sleep(0.1)
        yield lambda path: get(path.format(found[0]["id"])).replace(found[0]["id"].encode(), b"ID")
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=30)


def test_what_is_read_and_served_from_there_is_as_here(server, run, tmp_path):
    url, store, more = server
    at = "plugins/profile/2026_01_02_03_04_05/host.xplane.pb"
    here = tmp_path / "logs"
    (here / at).parent.mkdir(parents=True)
    (here / at).write_bytes(test_watch.profile(0))
    assert store.write(address(url, f"same/logs/{at}"), (here / at).read_bytes()) is None
    for command in (["top"], ["report", "--format", "csv"], ["list"]):
        assert run(*command, url + "/same/logs") == run(*command, here)
    env = environment(**more) | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    paths = ["/trace/{}/raw/host.xplane.pb", "/trace/{}/host.json", "/api/v1/session/{}/report", "/session/{}/"]
    with served(str(here), tmp_path, env) as a, served(url + "/same/logs", tmp_path, env) as b:
        for path in paths:
            assert a(path) == b(path), path
