"""/tensorboard/ID over fresh profiles with odd names: the real TensorBoard shows every one of them under
the name we redirect to, ends with us, and is not trusted where it shows something else."""
import gzip
import http.client
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import parse_qs, quote, urlsplit

import pytest

TENSORBOARD = pathlib.Path(sys.executable).with_name("tensorboard")
START_SECONDS = 90


def free_port():
    """Below the ports that the kernel gives to clients, so that none takes it meanwhile."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                return port


def tree(root):
    return sorted((str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*"))


def ask(port, target):
    """An answer of TensorBoard, which gzips its plugin's although nobody asked for it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 200, (target, answer.status, body[:200])
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def redirected(viewer, target):
    """(port, query) of the address that the page leads to, once TensorBoard has started."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        status, headers, body = viewer.get(target)
        if status == 303:
            break
        assert status == 200 and b"Starting TensorBoard" in body, (status, body)
        assert time.monotonic() < deadline, body
        time.sleep(0.5)
    parts = urlsplit(headers["Location"])
    assert (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", "/")
    assert parts.fragment == "profile"
    return parts.port, {k: v[0] for k, v in parse_qs(parts.query).items()}


def listed(viewer):
    """Once all is looked through: the address answers earlier."""
    assert wait_until(lambda: viewer.get("/readyz")[0] == 200, 60)
    return json.loads(viewer.get("/api/v1/sessions")[2])["sessions"]


def children(pid):
    """Of all its threads."""
    return [int(c) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
            for c in path.read_text().split()]


def tensorboards(pid):
    """The children that were given a log directory; another one is our own helper."""
    return [c for c in children(pid)
            if "--logdir" in pathlib.Path(f"/proc/{c}/cmdline").read_text()]


def ended(pid):
    """A process that is gone, or has exited and waits for its parent to notice."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.1)
    return condition()


@pytest.fixture
def serve(viewer, tmp_path):
    """serve(directory): a viewer whose TensorBoard is the real one, on a port of its own."""
    temp = tmp_path / "temp"
    temp.mkdir()

    def make(directory, port=None):
        v = viewer(directory, "--tensorboard-port", str(port or free_port()),
                   env={"VIEW_PROFILE_TENSORBOARD": str(TENSORBOARD), "TMPDIR": str(temp)})
        v.temp = temp
        return v

    return make


def test_the_real_one_is_started_and_shows_every_session(fresh, serve):
    before = tree(fresh)
    v = serve(fresh)
    for s in listed(v):
        port, query = redirected(v, f"/tensorboard/{quote(s['id'], safe='')}")
        assert query["tag"] == "trace_viewer@"
        run, host = quote(query["run"], safe=""), query["hosts"]
        assert query["run"] in json.loads(ask(port, "/data/plugin/profile/runs"))
        tools = json.loads(ask(port, f"/data/plugin/profile/run_tools?run={run}"))
        assert "trace_viewer@" in tools
        hosts = json.loads(ask(port, f"/data/plugin/profile/hosts?run={run}&tag=trace_viewer%40"))
        assert host in [h["hostname"] for h in hosts]
        shown = ask(port, f"/data/plugin/profile/data?run={run}&tag=trace_viewer%40&host={host}")
        names = {e.get("name") for e in json.loads(shown)["traceEvents"]}
        expected = "all_gather" if s["name"].startswith("sharded") else "PjitFunction(train_step)"
        assert any(str(n).startswith(expected) for n in names), sorted(map(str, names))[:50]
    assert tree(fresh) == before, "something was written into the profile directory"


def test_it_ends_even_when_we_are_killed(fresh, serve):
    v = serve(fresh / "plain")
    redirected(v, f"/tensorboard/{listed(v)[0]['id']}")
    (child,) = tensorboards(v.process.pid)
    v.process.send_signal(signal.SIGKILL)
    v.process.wait()
    v.process.returncode = 0  # as the test meant it
    assert wait_until(lambda: ended(child), 10)


class Foreign:
    """A TensorBoard that the user runs already."""

    def __init__(self, logdir):
        self.port = free_port()
        self.process = subprocess.Popen(
            [str(TENSORBOARD), "--logdir", str(logdir), "--host", "127.0.0.1", "--port",
             str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers(self):
        try:
            return bool(ask(self.port, "/data/plugin/profile/version"))
        except (OSError, http.client.HTTPException, AssertionError):
            return False

    def __enter__(self):
        assert wait_until(self.answers, START_SECONDS)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def test_the_users_own_is_used_when_it_knows_the_run(fresh, serve):
    with Foreign(fresh) as theirs:
        v = serve(fresh, theirs.port)
        for s in listed(v):
            port, query = redirected(v, f"/tensorboard/{quote(s['id'], safe='')}")
            assert port == theirs.port
            assert query["run"] == s["name"]
        assert not tensorboards(v.process.pid)


def test_one_that_shows_something_else_is_not_trusted(fresh, serve):
    """Asked for a run that it does not know, it would silently open another."""
    with Foreign(fresh / "sharded") as other:
        v = serve(fresh / "named", other.port)
        s = listed(v)[0]
        port, query = redirected(v, f"/tensorboard/{quote(s['id'], safe='')}")
        assert port != other.port
        assert query["run"] in json.loads(ask(port, "/data/plugin/profile/runs"))
