"""/api/v1/extract: the page's way to unpack archives. What is unpacked is read from then on, lies
where only we decide, and goes with the server; nothing tells or takes a path of this machine."""
import gzip
import io
import json
import os
import random
import shutil
import signal
import subprocess
import tarfile
import time

import pytest
from conftest import Server, serve_program, trace

RUN = "2026_01_02_03_04_05"
OTHER = "2026_01_02_03_04_06"
URL = "/api/v1/extract"


def add(t, name, body, mtime=1_700_000_000):
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(body), mtime
    t.addfile(info, io.BytesIO(body))


@pytest.fixture
def directory(tmp_path):
    """An archive with two runs and three files, a .gz and a plain file."""
    root = tmp_path / "logs"
    loose = root / "plugins/profile/2026_01_02_03_04_07"
    loose.mkdir(parents=True)
    (loose / "packed.trace.json.gz").write_bytes(gzip.compress(trace(20), mtime=0))
    (loose / "plain.trace.json").write_bytes(trace(30))
    with tarfile.open(root / "runs.tar.gz", "w:gz") as t:
        add(t, f"plugins/profile/{RUN}/a.trace.json", trace(40))
        add(t, f"plugins/profile/{RUN}/b.trace.json", trace(50))
        add(t, f"plugins/profile/{OTHER}/c.trace.json", trace(60))
    return root


class Site(Server):
    def __init__(self, tmp_path, directory, prefix=()):
        self.temp = tmp_path / "temp"
        self.temp.mkdir(exist_ok=True)
        self.directory = directory
        self.process = subprocess.Popen(
            [*prefix, serve_program(), str(directory)], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(self.temp)})
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.host = f"127.0.0.1:{self.port}"
        self.answers = []

    def post(self, body="{}", *fields):
        fields = fields or ("Content-Type: application/json", f"Origin: http://{self.host}")
        data = body.encode()
        answer = self.request("POST", URL, *fields, f"Content-Length: {len(data)}", body=data)
        self.answers.append(answer.content())
        return answer

    def state(self):
        answer = self.get(URL)
        assert answer.status == 200 and answer.get("Cache-Control") == "no-store"
        self.answers.append(answer.content())
        state = json.loads(answer.content())
        assert state["schema"] == "view_profile.extract/1"
        return state

    def ended(self, seconds=300):
        deadline = time.monotonic() + seconds
        while (state := self.state())["state"] == "running":
            assert state["files"]["made"] + state["files"]["kept"] <= state["files"]["found"]
            assert 0 <= state["bytes"]["done"] <= state["bytes"]["total"]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return state

    def extract(self, body="{}"):
        assert self.post(body).status == 202
        return self.ended()

    def session(self, end):
        listed = json.loads(self.get("/api/v1/sessions").content())["sessions"]
        return next(s["id"] for s in listed if s["name"].endswith(end))

    def trees(self):
        return [p for p in self.temp.iterdir() if p.name.startswith("view_profile_extracted_")]

    def copies(self):
        (tree,) = self.trees()
        return {str(p.relative_to(tree / "files")): p for p in (tree / "files").rglob("*")
                if p.is_file() and not p.name.startswith(".")}

    def tell_no_paths(self):
        for text in self.answers:
            for path in (self.temp, self.directory):
                assert str(path).encode() not in text and b"view_profile_extracted" not in text


@pytest.fixture
def site(tmp_path, directory):
    made = []

    def make(where=directory, **options):
        made.append(Site(tmp_path, where, **options))
        return made[-1]

    yield make
    for s in made:
        if s.process.returncode is None:
            s.stop()
        s.tell_no_paths()
        assert not s.trees() or s.process.returncode != 0


def tree(root):
    return sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*"))


def test_everything_packed_is_unpacked(site, directory):
    before = tree(directory)
    s = site()
    assert s.state()["state"] == "idle" and s.state()["unpacked"] == []
    assert not s.trees(), "asking makes nothing"
    state = s.extract()
    assert state["state"] == "done" and state["session"] is None and state["error"] is None
    assert state["files"] == {"found": 4, "made": 4, "kept": 0, "left_out": 0}
    assert state["left_out"] == []
    assert state["bytes"]["done"] == state["bytes"]["total"] > 0
    assert {n: p.read_bytes() for n, p in s.copies().items()} == {
        f"runs/plugins/profile/{RUN}/a.trace.json": trace(40),
        f"runs/plugins/profile/{RUN}/b.trace.json": trace(50),
        f"runs/plugins/profile/{OTHER}/c.trace.json": trace(60),
        "plugins/profile/2026_01_02_03_04_07/packed.trace.json": trace(20)}
    assert sorted(state["unpacked"]) == sorted(map(s.session, (RUN, OTHER, "04_07")))
    for p in (*s.trees(), *s.trees()[0].rglob("*")):
        assert p.stat().st_mode & 0o077 == 0
    s.stop()
    assert s.trees() == []
    assert tree(directory) == before


def test_a_second_time_there_is_nothing_to_do(site):
    s = site()
    s.extract()
    times = {n: p.stat().st_mtime_ns for n, p in s.copies().items()}
    assert s.extract()["files"] == {"found": 4, "made": 0, "kept": 4, "left_out": 0}
    assert {n: p.stat().st_mtime_ns for n, p in s.copies().items()} == times


def test_one_session(site):
    s = site()
    id = s.session(OTHER)
    state = s.extract(json.dumps({"session": id}))
    assert state["session"] == id and state["files"]["made"] == 1 and state["unpacked"] == [id]
    assert list(s.copies()) == [f"runs/plugins/profile/{OTHER}/c.trace.json"]
    assert s.extract()["files"] == {"found": 4, "made": 3, "kept": 1, "left_out": 0}


def ops(s, end):
    report = json.loads(s.get(f"/api/v1/session/{s.session(end)}/report?group=raw&n=5").content())
    return {o["name"] for o in report["ops"]}


def test_what_is_unpacked_is_what_is_read(site, directory):
    """Seen by a mark that only the copy has. A changed archive has no copy any more."""
    s = site()
    s.extract()
    copy = s.copies()[f"runs/plugins/profile/{OTHER}/c.trace.json"]
    data, before = copy.read_bytes(), copy.stat()
    copy.write_bytes(data.replace(b"fusion.", b"copied."))
    os.utime(copy, ns=(before.st_mtime_ns, before.st_mtime_ns))
    names = ops(s, OTHER)
    assert names and all(n.startswith("copied.") for n in names)
    raw = s.get(f"/trace/{s.session(OTHER)}/raw/c.trace.json")
    assert raw.status == 200 and b"copied." in raw.content()

    archive = directory / "runs.tar.gz"
    with tarfile.open(archive, "w:gz") as t:
        add(t, f"plugins/profile/{OTHER}/c.trace.json", trace(60).replace(b"fusion.", b"newest."), 1_700_000_001)
    time.sleep(2.1)
    s.get("/api/v1/sessions")
    names = ops(s, OTHER)
    assert names and all(n.startswith("newest.") for n in names)
    assert s.session(OTHER) not in s.state()["unpacked"]
    assert s.extract()["files"]["made"] == 1
    assert b"newest." in copy.read_bytes()


def test_a_gz_is_still_passed_through_as_it_is(site, directory):
    s = site()
    s.extract()
    raw = s.get(f"/trace/{s.session('04_07')}/raw/packed.trace.json.gz")
    packed = directory / "plugins/profile/2026_01_02_03_04_07/packed.trace.json.gz"
    assert raw.content() == packed.read_bytes()


# ---- Who may ask, and for what ----

def test_only_our_own_pages_may_ask(site):
    s = site()
    json_type, own = "Content-Type: application/json", f"Origin: http://{s.host}"
    for fields, status in (((own,), 415), (("Content-Type: text/plain", own), 415),
                           ((json_type, "Origin: https://evil.test"), 403),
                           ((json_type, "Origin: null"), 403),
                           ((json_type, "Origin: https://ui.perfetto.dev"), 403),
                           ((json_type, "Sec-Fetch-Site: cross-site"), 403),
                           ((json_type, "Sec-Fetch-Site: same-site"), 403)):
        answer = s.post("{}", *fields)
        assert answer.status == status, (fields, answer.status)
        assert answer.get("Access-Control-Allow-Origin") is None
    assert s.state()["state"] == "idle" and not s.trees()
    for method in ("PUT", "DELETE", "PATCH"):
        answer = s.request(method, URL, own)
        assert answer.status == 405 and answer.get("Allow") == "GET, HEAD, POST"
    assert s.request("HEAD", URL).status == 200


@pytest.mark.parametrize("body", ["", "[]", "null", "1", '"x"', "{", '{"session":1}',
                                  '{"session":null}', '{"path":"/etc"}', '{"out":"/tmp/x"}',
                                  '{"session":"x","out":"/tmp/x"}', '{"session":"a","session":"b"}',
                                  '{"session":"\\ud800"}', "{}{}"])
def test_other_bodies_are_refused(site, body):
    s = site()
    assert s.post(body).status == 400
    assert s.state()["state"] == "idle" and not s.trees()


@pytest.mark.parametrize("id", ["", "no-such", "..", "../../etc/passwd", "/etc/passwd", "a\0b"])
def test_an_unknown_session_is_404(site, id):
    s = site()
    assert s.post(json.dumps({"session": id})).status in (400, 404)
    assert s.state()["state"] == "idle" and not s.trees()


# ---- Large, damaged, full, killed ----

@pytest.fixture
def large(tmp_path):
    root = tmp_path / "large"
    root.mkdir()
    rnd = random.Random(3)
    with tarfile.open(root / "large.tar.gz", "w:gz", compresslevel=1) as t:
        for i in range(12):
            body = trace(10) + rnd.randbytes(1 << 22).hex().encode()
            add(t, f"plugins/profile/2026_01_02_03_05_{i:02}/a.trace.json",
                body.replace(trace(10), trace(10)[:-1] + b',"x":"') + b'"}')
    return root


def test_one_at_a_time_and_a_stop_does_not_wait(site, large):
    s = site(large)
    assert s.post().status == 202
    if s.state()["state"] == "running":
        assert s.post().status == 409
        times = []  # one quick answer is enough: a busy machine may delay others
        while s.state()["state"] == "running" and (not times or min(times) >= 1):
            start = time.monotonic()
            assert s.get("/healthz").status == 200
            times.append(time.monotonic() - start)
        assert not times or min(times) < 1
    start = time.monotonic()
    s.stop()
    assert time.monotonic() - start < 5
    assert s.trees() == []


def test_progress_rises_to_the_end(site, large):
    s = site(large)
    assert s.post().status == 202
    done = []
    while (state := s.state())["state"] == "running":
        done.append(state["bytes"]["done"])
        time.sleep(0.01)
    assert state["state"] == "done" and state["files"]["made"] == 12
    assert done == sorted(done) and len(set(done)) > 2


def test_a_damaged_file_is_named_and_the_others_are_there(site, directory):
    packed = directory / "plugins/profile/2026_01_02_03_04_07/packed.trace.json.gz"
    packed.write_bytes(packed.read_bytes()[:-12])
    s = site()
    state = s.extract()
    assert state["state"] == "done"
    assert state["files"] == {"found": 4, "made": 3, "kept": 0, "left_out": 1}
    (left,) = state["left_out"]
    assert left["path"] == "plugins/profile/2026_01_02_03_04_07/packed.trace.json.gz"
    assert "gzip" in left["why"]
    assert s.session("04_07") not in state["unpacked"]


def test_a_full_disk_is_said_and_leaves_whole_files(site, tmp_path, large):
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("SKIP: no user namespaces here")
    (tmp_path / "temp").mkdir()
    s = site(large, prefix=["unshare", "-rm", "sh", "-c",
                            f'mount -t tmpfs -o size=20m none {tmp_path}/temp && exec "$0" "$@"'])
    state = s.extract()
    assert state["state"] == "failed" and "No space left on device" in state["error"]
    assert 0 < state["files"]["made"] < 12
    assert len(state["unpacked"]) == state["files"]["made"]
    report = s.get(f"/api/v1/session/{state['unpacked'][0]}/report")
    assert report.status == 200, "what is there is read"


def test_the_next_server_removes_what_a_killed_one_left(site, large):
    s = site(large)
    assert s.post().status == 202
    while not any((tree / ".lock").exists() for tree in s.trees()):  # without a lock it has no owner
        time.sleep(0.01)
    (left,) = s.trees()
    s.process.send_signal(signal.SIGKILL)
    s.process.communicate()
    assert left.exists()
    again = site(large)
    shutil.copytree(left, left.with_name("view_profile_extracted_copy00"), ignore=shutil.ignore_patterns(".lock"))
    assert again.extract()["state"] == "done"
    assert not left.exists()
    assert len(again.trees()) == 2, "what has no lock of ours is not ours"
    shutil.rmtree(left.with_name("view_profile_extracted_copy00"))
