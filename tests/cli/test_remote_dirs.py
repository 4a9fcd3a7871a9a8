"""Log directories that lie on a web server: every command says of them what it says of the same files here, reads no
more than it must, and keeps nothing large; and what goes wrong there is one line."""
import base64
import contextlib
import html
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fetching  # noqa: E402
from emulated import not_emulated, plain_program  # noqa: E402
from stores import serving  # noqa: E402
from used import run_used  # noqa: E402
from traces import DATA, ROOT  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
RUN = "plugins/profile/2026_01_02_03_04_05"


class Web:
    """A directory as a web server shows it. before(request, path) may answer instead of it."""

    def __init__(self, root):
        self.root, self.log, self.lock = pathlib.Path(root), [], threading.Lock()
        self.delay, self.before, self.links = 0, lambda *_: False, ()

    def etag(self, path):
        return f'"{path.stat().st_mtime_ns:x}-{path.stat().st_size:x}"'

    def index(self, r, path):
        rows = [urllib.parse.quote(e.name) + "/" * e.is_dir() for e in os.scandir(path)] + list(self.links)
        page = "".join(f'<a href="{html.escape(row)}">x</a>\n' for row in rows).encode()
        r.answer(200, page, Content_Type="text/html")

    def file(self, r, path):
        size, first, last = path.stat().st_size, 0, None
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", r.headers.get("Range", ""))
        etag, wanted = self.etag(path), r.headers.get("If-Match")
        if wanted and wanted != etag:
            return r.answer(412)
        if asked:
            first, last = int(asked[1]), asked[2] and int(asked[2])
        last = min(last if last or last == 0 else size - 1, size - 1)
        more = {"ETag": etag, "Last_Modified": r.date_time_string(int(path.stat().st_mtime)), "Accept_Ranges": "bytes"}
        if asked and first >= size:
            return r.answer(416, Content_Range=f"bytes */{size}", **more)
        if asked:
            more["Content_Range"] = f"bytes {first}-{last}/{size}"
        if r.command == "HEAD":
            return r.answer(200, Content_Length=str(size), **more)
        with self.lock:
            self.log.append((str(path), first, last + 1 - first))
        with open(path, "rb") as f:
            f.seek(first)
            r.answer(206 if asked else 200, f.read(last + 1 - first), **more)

    def act(self, r):
        if self.delay:
            time.sleep(self.delay)
        path = self.root / urllib.parse.unquote(urllib.parse.urlsplit(r.path).path).lstrip("/")
        if self.before(r, path):
            return None
        if path.is_dir():
            return self.index(r, path)
        return self.file(r, path) if path.is_file() else r.answer(404)

    def read(self, path):
        """Bytes that were asked for of it."""
        return sum(n for p, _, n in self.log if p == str(path))


@contextlib.contextmanager
def web(root):
    w = Web(root)
    with serving({"GET": w.act, "HEAD": w.act, "PROPFIND": lambda r: (r.body(), r.answer(405))}) as w.url:
        yield w


def run(place, *args, code=0):
    done = subprocess.run(["view_profile", *map(str, args)], cwd=place.dir, env=place.env, capture_output=True)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout


def one_line(place, *args, code=3):
    done = subprocess.run(["view_profile", *map(str, args)], cwd=place.dir, env=place.env, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if "skipped" not in line]
    assert (done.returncode, len(lines)) == (code, 1), done.stderr
    assert lines[0].startswith("view_profile: http://")
    return lines[0]


@pytest.fixture(scope="module")
def data():
    with web(DATA) as w:
        yield w


def xplanes():
    return sorted((p for p in DATA.rglob("*.xplane.pb") if p.stat().st_size > 100_000), key=lambda p: p.stat().st_size)


@pytest.fixture
def logs(tmp_path):
    """A log directory with one run, and a server that shows it."""
    at = tmp_path / "logs"
    (at / RUN).mkdir(parents=True)
    shutil.copy(xplanes()[0], at / RUN / "host.xplane.pb")
    with web(at) as w:
        w.file_path = at / RUN / "host.xplane.pb"
        yield w


def grown(logs, least):
    """The run's xplane made as large, of the same planes again and again."""
    one = logs.file_path.read_bytes()
    with open(logs.file_path, "wb") as f:
        while f.tell() < least:
            f.write(one)
    return logs.file_path.stat().st_size


def kept(place):
    """Bytes on the disk in the cache directory."""
    cache = pathlib.Path(place.env["XDG_CACHE_HOME"])
    return sum(p.lstat().st_blocks * 512 for p in cache.rglob("*") if p.is_file())


# ---- As locally ------------------------------------------------------------------------------------------------------

def test_the_list_is_the_same(place, data):
    here = run(place, "list", DATA)
    assert run(place, "list", data.url) == here
    read = len(data.log)
    assert run(place, "list", "--profile-dir", data.url + "/") == here
    assert len(data.log) == read > 0


def runs(place):
    """Where one run of each kind lies, outside archives."""
    out = {}
    for s in json.loads(run(place, "list", DATA, "--format", "json"))["sessions"]:
        if s["status"] == "ok" and "!" not in s["path"]:
            out.setdefault(s["kind"], s["path"])
    return out.values()


@pytest.mark.parametrize("command", ["top", "report --format csv", "findings", "export"])
def test_every_run_says_the_same(place, data, command):
    command, *more = command.split()
    for path in runs(place):
        args = [*more, *(["-o", "-"] if command == "export" else [])]
        here = subprocess.run(["view_profile", command, str(DATA / path), *args], env=place.env, capture_output=True)
        there = subprocess.run(["view_profile", command, f"{data.url}/{urllib.parse.quote(path)}", *args], env=place.env,
                               capture_output=True)
        assert (there.returncode, there.stdout) == (here.returncode, here.stdout), there.stderr


def test_a_file_and_an_archive_are_named_themselves(place, data):
    archives = [p for p in DATA.rglob("*") if p.name.endswith((".tar.gz", ".zip", ".tgz"))][:3]
    for path in [xplanes()[-1], *archives]:
        assert run(place, "list", f"{data.url}/{path.relative_to(DATA)}") == run(place, "list", path)


def test_what_is_extracted_is_the_same(place, data):
    part = "archives_made"
    def tree(name):
        at = place.dir / name
        return {p.relative_to(at): p.read_bytes() for p in at.rglob("*") if p.is_file() and "marker" not in p.name}

    for source, out in ((DATA / part, "here"), (f"{data.url}/{part}", "there")):
        subprocess.run(["view_profile", "extract", str(source), "--out", out], cwd=place.dir, env=place.env,
                       capture_output=True)
    here, there = tree("here"), tree("there")
    assert here.keys() == there.keys() and here
    assert all(here[k] == there[k] for k in here if not k.name.startswith("."))


def test_both_sides_of_a_comparison(place, logs):
    out = run(place, "compare", logs.url, logs.root).decode()
    assert "the same capture" in out
    assert run(place, "compare", "--profile-dir", logs.url, "03_04_05", "03_04_05").decode().splitlines()[-1]


def test_reports_and_histories_lie_there_too(place, logs):
    """What takes the JSON of a report takes it at an address, and says the same of it."""
    for name in ("a", "b"):
        (logs.root / f"{name}.json").write_bytes(run(place, "report", "--format", "json", logs.root))
    assert run(place, "merge", f"{logs.url}/a.json") == run(place, "merge", logs.root / "a.json")
    for command in ("compare", "trend"):
        here = run(place, command, logs.root / "a.json", logs.root / "b.json")
        assert run(place, command, f"{logs.url}/a.json", f"{logs.url}/b.json?signature=x") == here
        assert run(place, command, logs.root / "a.json", f"{logs.url}/b.json") == here
    assert run(place, "compare", f"{logs.url}/a.json", logs.url) == run(place, "compare", logs.root / "a.json", logs.root)
    (logs.root / "broken.json").write_bytes((logs.root / "a.json").read_bytes()[:-99])
    for command in ("compare", "trend", "merge"):
        line = one_line(place, command, f"{logs.url}/a.json", f"{logs.url}/broken.json")
        assert line.startswith(f"view_profile: {logs.url}/broken.json") and "JSON" in line
        one_line(place, command, f"{logs.url}/a.json", f"{logs.url}/none.json", code=4)
    assert "not a report" in one_line(place, "merge", f"{logs.url}/a.json", logs.url)


def test_the_page_is_served(place, logs):
    child = subprocess.Popen(["view_profile", "serve", logs.url, "--port", "0", "--no-browser", "--ui", "perfetto"],
                             cwd=place.dir, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = child.stdout.readline().strip().rstrip("/")

        def get(path):
            with urllib.request.urlopen(address + path, timeout=60) as r:
                return r.read()

        def listed():
            return json.loads(get("/api/v1/sessions"))["sessions"]

        until = time.time() + 60
        while not (found := listed()) and time.time() < until:
            time.sleep(0.1)
        assert [s["name"] for s in found] == ["2026_01_02_03_04_05"]
        assert logs.url.split("/")[-1] in get("/").decode()
        session = found[0]["id"]
        assert b"host" in get(f"/session/{session}/")
        assert get(f"/trace/{session}/raw/host.xplane.pb") == logs.file_path.read_bytes()
        assert json.loads(get(f"/trace/{session}/host.json"))["traceEvents"]
        for n in (7, 8):  # each a moment after the last look
            shutil.copytree(logs.root / RUN, logs.root / f"plugins/profile/2026_01_02_03_04_0{n}")
            rescan = urllib.request.Request(address + "/api/v1/rescan", method="POST", data=b"",
                                            headers={"Origin": address, "Content-Type": "application/json"})
            with urllib.request.urlopen(rescan, timeout=60) as r:
                assert r.status == 200
            assert len(listed()) == n - 5
        second = logs.root / "plugins/profile/2026_01_02_03_04_06"
        shutil.copytree(logs.root / RUN, second)
        until = time.time() + 60
        while len(listed()) < 4 and time.time() < until:
            get("/")
            time.sleep(0.5)
        assert len(listed()) == 4
    finally:
        child.send_signal(signal.SIGTERM)
        errors = child.communicate(timeout=60)[1]
    assert child.returncode == 0, errors
    assert "no sandbox" not in errors


C_API = r"""
#include <stdio.h>
#include <string.h>
#include <view_profile.h>
static int fail(void)
{
    printf("%d %s: %s\n", vp_error_last()->code, vp_error_last()->path, vp_error_last()->message);
    return 1;
}
int main(int argc, char **argv)
{
    vp_catalog *c;
    vp_server *s;
    vp_viewer *v;
    vp_report *r;
    const vp_session *session;
    vp_open_options o = VP_OPEN_OPTIONS_INIT;
    o.port = 0;
    o.open_browser = false;
    if (argc > 2)
        return vp_report_read(&r, argv[2]) < 0 ? fail() : (vp_report_free(r), puts("a report"), 0);
    if (vp_catalog_open(&c, argv[1]) < 0 || vp_catalog_latest(&session, c) < 0)
        return fail();
    puts(vp_session_name(session));
    vp_catalog_free(c);
    if (vp_open_latest(&v, argv[1], &o) < 0)
        return fail();
    puts(strchr(vp_viewer_url(v) + 7, '/'));
    if (vp_server_start(&s, argv[1], &o) < 0)
        return fail();
    puts(vp_server_url(s));
    fflush(stdout);
    (void)getchar();
    vp_server_stop(s);
    vp_viewer_close(v);
    return 0;
}
"""


@pytest.fixture
def linked(place, program):
    """A program of somebody else, with the fetcher beside it."""
    library = pathlib.Path(program).parent / "libview_profile.so"
    assert library.exists(), "build the target view_profile_lib"
    (place.dir / "app.c").write_text(C_API)
    subprocess.run(["cc", "-o", "app", "app.c", f"-I{ROOT}/include", library, f"-Wl,-rpath,{library.parent}", "-Wl,-z,lazy",
                    *(["-fsanitize=address,undefined"] if "asan" in str(library) else [])], cwd=place.dir, check=True)
    (place.dir / "view_profile-fetch").symlink_to(fetching.program())
    return [str(place.dir / "app")]


def test_a_program_that_is_linked_with_it(place, logs, linked):
    with subprocess.Popen([*linked, logs.url], env=place.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as app:
        assert [app.stdout.readline().strip() for _ in range(2)] == ["2026_01_02_03_04_05", "/session/2026_01_02_03_04_05/"]
        address = app.stdout.readline().strip()
        until = time.time() + 60
        while time.time() < until and b"2026_01_02_03_04_05" not in (page := urllib.request.urlopen(address, timeout=60).read()):
            time.sleep(0.1)
        assert logs.url.split("/")[-1].encode() in page and b"2026_01_02_03_04_05" in page
        app.communicate("x")
        assert app.returncode == 0
    (logs.root / "a.json").write_bytes(run(place, "report", "--format", "json", logs.root))

    def said(*args):
        return subprocess.run([*linked, *args], env=place.env, capture_output=True, text=True).stdout

    assert said("", f"{logs.url}/a.json") == "a report\n"
    assert said(f"{logs.url}/none").startswith(f"-6 {logs.url}/none: ")
    assert said("http://127.0.0.1:9/logs").startswith("-12 http://127.0.0.1:9/logs: ")
    (place.dir / "view_profile-fetch").unlink()
    code, path, message = re.fullmatch(r"(-\d+) (.*?): (v.*)\n", said(logs.url)).groups()
    assert (code, path) == ("-5", logs.url) and "install all of view_profile" in message


# ---- No more than it must ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("delay", [0, 0.02])
def test_each_byte_is_read_at_most_twice_and_not_kept(place, logs, delay):
    size = grown(logs, 48 << 20)
    here = run(place, "top", logs.root)
    logs.delay = delay
    assert run(place, "top", logs.url) == here
    assert size <= logs.read(logs.file_path) <= 2 * size
    assert kept(place) < 1 << 20


@contextlib.contextmanager
def ranges(path, ms):
    """tests/bench/range_server.py: its address, and after the end [bytes asked for, those of them for the third time or more]."""
    counted = []
    with subprocess.Popen([sys.executable, str(ROOT / "tests" / "bench" / "range_server.py"), str(path), str(ms)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/{RUN}/host.xplane.pb", counted
        counted += [int(n) for n in server.communicate("")[0].split()]


def with_memory(place, *args, program="view_profile"):
    """What it says, the most MiB that it held, and what it says of that."""
    with open(place.dir / "out", "w+b") as out:
        used = run_used([program, *args], out, cwd=place.dir, env=place.env)
        assert used.code == 0, used.err
        out.seek(0)
        return out.read(), used.peak / (1 << 20), used.err


@pytest.mark.needs_release
def test_many_runs_are_listed_in_bounded_memory(place):
    """20,000; with VP_SLOW=1 a million, which with their files are two million entries: where the scan stops, and says so."""
    not_emulated("memory is mostly the emulator's")
    runs = 10**6 if os.environ.get("VP_SLOW") == "1" else 20_000
    place.env |= {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK", "AWS_REGION": "us-east-1"}
    with subprocess.Popen([sys.executable, ROOT / "tests/bench/s3_pages.py", str(runs), "0"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as bucket:
        place.env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{bucket.stdout.readline().strip()}"
        rows, most, said = with_memory(place, "list", "--verbose", "s3://bkt/logs", program=plain_program())
        bucket.stdin.close()
    assert rows.count(b"2026_01_") >= runs - 10 and ("scan stopped" in said) == (runs == 10**6), said
    assert most < 32 + runs * 1200 / 10**6


@pytest.mark.slow
@pytest.mark.parametrize("ms", [0, 20])
def test_a_large_file_is_asked_for_at_most_twice(place, logs, program, ms):
    """130 MB, counted by the server; held are 64 MiB of it, or all where that is far away. The table needs no events of hosts, which
    the JSON counts."""
    repeat = pathlib.Path(program).parent / "tests" / "repeat_xplane"  # as one profile of that length has its lines
    if not repeat.exists():
        pytest.skip("SKIP: built without its tests")
    one = logs.file_path.with_suffix(".one")
    logs.file_path.rename(one)
    subprocess.run([repeat, one, logs.file_path, str(130_000_000 // one.stat().st_size)], check=True)
    one.unlink()
    size = logs.file_path.stat().st_size
    forms = {}
    for form in ("text", "json"):
        here, least, _ = with_memory(place, "top", logs.file_path, "--format", form)
        with ranges(logs.file_path, ms) as (url, counted):
            there, most, _ = with_memory(place, "top", url, "--format", form)
        assert json.loads(there)["ops"] == json.loads(here)["ops"] if form == "json" else there == here
        asked, again = forms[form] = counted
        assert asked <= (1.02 if ms else 2) * size and again < size / 20
    assert forms["json"][0] >= size and (ms or forms["text"][0] < 0.8 * size)
    held = (size >> 20) if asked < 1.02 * size else 64
    if not re.search("asan|tsan", str(program)):
        assert most - least < held + 16
    assert kept(place) < 1 << 20


def test_many_small_planes_are_asked_for_at_most_twice(place, logs):
    """Devices' and hosts' in turn, more of them than is held."""
    device = next(p for p in xplanes() if b"/device:TPU:0" in p.read_bytes())
    logs.file_path.write_bytes(logs.file_path.read_bytes() + device.read_bytes())
    size = grown(logs, 72 << 20)
    here = run(place, "top", logs.file_path)
    with ranges(logs.file_path, 0) as (url, counted):
        assert run(place, "top", url) == here
    asked, again = counted
    assert asked <= 2 * size and again < size / 50


def test_small_files_are_kept_until_they_change(place, logs):
    here = run(place, "top", logs.url)
    size = logs.file_path.stat().st_size
    assert size <= 4 << 20 and logs.read(logs.file_path) == size
    assert run(place, "top", logs.url) == here
    assert logs.read(logs.file_path) == size
    grown(logs, 2 * size)
    assert run(place, "top", logs.url) == run(place, "top", logs.root)


def test_a_name_that_says_it_all_costs_no_question(place, logs):
    run(place, "list", logs.url)
    assert not logs.log


@pytest.mark.slow
def test_the_memory_is_bounded(place, logs):
    grown(logs, 300 << 20)
    code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")

    def peak(source):
        # A sanitizer keeps what was freed for a while: 256 MiB, unless it is told.
        env = {**place.env, "ASAN_OPTIONS": place.env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"}
        return 1024 * int(subprocess.run([sys.executable, "-c", code, "view_profile", "top", str(source)],
                                         env=env, capture_output=True, check=True).stdout)

    assert peak(logs.url) < peak(logs.root) + (100 << 20)
    assert kept(place) < 1 << 20


# ---- What goes wrong -------------------------------------------------------------------------------------------------

def test_one_that_changes_while_it_is_read(place, logs):
    grown(logs, 40 << 20)

    def before(r, path):
        if r.command == "GET" and path == logs.file_path and len(logs.log) > 1:
            os.utime(path, ns=(1, time.time_ns()))
        return False

    logs.before = before
    assert "chang" in one_line(place, "top", logs.url)


def test_one_that_vanishes(place, logs):
    logs.before = lambda r, path: r.command == "GET" and path == logs.file_path and (r.answer(404), True)[1]
    one_line(place, "top", logs.url, code=4)


def test_one_that_is_cut(place, logs):
    grown(logs, 20 << 20)

    def before(r, path):
        if r.command != "GET" or path != logs.file_path:
            return False
        r.send_response(206)
        for name, value in (("Content-Length", "8388608"), ("ETag", logs.etag(path)),
                            ("Content-Range", r.headers["Range"].replace("=", " ") + f"/{path.stat().st_size}")):
            r.send_header(name, value)
        r.end_headers()
        r.close_connection = True
        return True

    logs.before = before
    one_line(place, "top", logs.url)


@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_server_that_refuses(place, logs, status):
    logs.before = lambda r, path: (r.answer(status), True)[1]
    assert str(status) in one_line(place, "top", logs.url)


def test_nothing_there(place, logs):
    one_line(place, "list", logs.url + "/nowhere", code=4)
    one_line(place, "top", logs.url + "/nowhere.xplane.pb", code=4)
    one_line(place, "top", "http://127.0.0.1:9", code=3)


def test_names_that_lead_elsewhere(place, logs):
    logs.links = ("../../../../up.json", "%2e%2e/up.json", "/etc/up.json", "a%2fb.json", "http://127.0.0.1:9/up.json",
                  "%00.json", "..%2f..%2fup.json", ".hidden.json")
    listed = json.loads(run(place, "list", "--format", "json", logs.url))
    assert [s["name"] for s in listed["sessions"]] == ["2026_01_02_03_04_05"]
    cache = pathlib.Path(place.env["XDG_CACHE_HOME"])
    assert not [p for p in cache.rglob("*") if p.is_file()]
    assert (cache / "view_profile").stat().st_mode & 0o77 == 0


def test_names_that_are_left_out_are_counted(place):
    """As what lies here and cannot be read."""
    def page(*keys):
        rows = "".join(f"<Contents><Key>{urllib.parse.quote(key)}</Key><Size>5000</Size></Contents>" for key in keys)
        return lambda r: r.answer(200, f"<L><EncodingType>url</EncodingType>{rows}</L>".encode())

    fine, odd = "logs/plugins/profile/run/h.xplane.pb", ("logs/plugins/profile/../up.json", "logs/plugins/profile/run/a\nb.json")
    env = place.env | {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}

    def said(keys, *more):
        with serving({"GET": page(*keys)}) as url:
            done = subprocess.run(["view_profile", "list", "s3://b/logs/plugins/profile", *more], env=env | {"AWS_ENDPOINT_URL": url},
                                  capture_output=True, text=True)
        assert done.returncode == 0 and "run" in done.stdout
        return done.stderr

    assert said([fine]) == ""
    assert "1 unreadable file skipped" in said([fine, odd[0]])
    assert "view_profile: .: 1 name skipped: " in said([fine, odd[0]], "--verbose")
    line, = (row for row in said([fine, *odd], "--verbose").splitlines() if "skipped" in row)
    assert line.startswith("view_profile: .: 2 names skipped: ")


def test_two_programs_at_once(place, logs):
    here = run(place, "top", logs.root)
    children = [subprocess.Popen(["view_profile", "top", logs.url], env=place.env, stdout=subprocess.PIPE) for _ in range(6)]
    assert [c.communicate()[0] for c in children] == [here] * 6


def test_doctor_looks_there(place, logs):
    assert "1 run" in " ".join(run(place, "doctor", logs.url).decode().split())


COMMANDS = [c.split() for c in (
    "list U", "list --format json U", "top U", "top U no_such_session", "report U", "report --format json U", "report --format csv U",
    "report --format html U", "findings U", "compare U U", "compare --format json U U", "compare U none", "trend U", "trend --format json U",
    "trend U/history.jsonl", "merge U", "export U", "export --to folded U", "export --to bundle -o bundle.tar.gz U", "extract U", "extract --out x U",
    "serve --list-only U", "serve --extract --ui none U", "doctor U", "memory U", "record U", "recover U", "export -o U", "report -o U U",
    "list U U U", "top --by U U", "top --profile-dir U", "serve --token-file U U", "watch h:1 --times 1 --duration 1ms --baseline U",
    "watch U", "capture U", "capture --hosts-file U", "capture h:1 --out U --name /", "serve --perfetto-ui U .", "help U", "U")]


@pytest.mark.slow
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("form", ["password", "query"])
def test_no_command_prints_a_secret(place, logs, args, form):
    """Whether it takes an address there or refuses it, and whether the server lets it in or not."""
    mine = logs.url.replace("://", "://bob:s3cret@") if form == "password" else logs.url + "?X-Amz-Signature=s3cret&sig=s3cret"
    for refuses in (False, True):
        logs.before = lambda r, path, refuses=refuses: refuses and (r.answer(403), True)[1]
        argv = [a.replace("U", mine) for a in args]
        try:
            done = subprocess.run(["view_profile", *argv, *(["--no-browser"] if argv == [mine] else [])], cwd=place.dir, env=place.env,
                                  capture_output=True, stdin=subprocess.DEVNULL, timeout=60 if argv != [mine] else 3)
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired as still:
            said = (still.stdout or b"") + (still.stderr or b"")
        assert b"s3cret" not in said, said.decode(errors="replace")[:2000]
    for p in place.dir.rglob("*"):
        assert not p.is_file() or b"s3cret" not in p.read_bytes(), p


@pytest.mark.parametrize("form", ["password", "query"])
def test_the_page_prints_no_secret(place, logs, form):
    from serving import Serving
    mine = logs.url.replace("://", "://bob:s3cret@") if form == "password" else logs.url + "/?token=s3cret"
    with Serving(place, "--port", "0", mine) as s:
        end = time.monotonic() + 60
        while "2026_01_02_03_04_05" not in s.get("/")[2]:
            assert time.monotonic() < end
            time.sleep(0.1)
        for path in ("/", "/api/v1/sessions", "/session/2026_01_02_03_04_05/", "/api/v1/session/2026_01_02_03_04_05/report",
                     "/session/none/", "/metrics", "/tensorboard/2026_01_02_03_04_05", "/session/2026_01_02_03_04_05/trace",
                     "/compare", "/trend", "/none?token=other"):
            assert "s3cret" not in str(s.get(path)), path
        assert "s3cret" not in "".join(s.end(2)[1:])


def test_a_password_in_the_address_is_sent_and_not_told(place):
    wanted = "Basic " + base64.b64encode(b"bob:s3cret@x").decode()

    def guard(r, path):
        if r.headers.get("Authorization") == wanted:
            return False
        r.answer(401)
        return True

    with web(DATA / "jax_cpu" / "three_runs") as w:
        w.before = guard
        mine = w.url.replace("://", "://bob:s3cret%40x@")
        here = run(place, "list", DATA / "jax_cpu" / "three_runs")
        assert run(place, "list", mine) == here
        said = run(place, "serve", "--list-only", mine) + run(place, "doctor", mine) + run(place, "report", "--format", "html", mine)
        said += run(place, "list", "--format", "json", mine)
        assert w.url.encode() in said and b"s3cret" not in said
        for wrong in (mine.replace("s3cret", "s3cret-too"), mine + "/none"):
            line = one_line(place, "list", wrong, code=4 if "none" in wrong else 3)
            assert line.startswith(f"view_profile: {w.url}") and "s3cret" not in line
    assert not [p for p in pathlib.Path(place.env["XDG_CACHE_HOME"]).rglob("*") if "s3cret" in p.name]


def guarded(w, query):
    """The server answers only to this query, and notes what else it was asked with."""
    others = []

    def before(r, path):
        given = urllib.parse.urlsplit(r.path).query
        if given != query:
            others.append(r.path)
            r.answer(403)
        return given != query

    w.before = before
    return others


def test_a_query_is_sent_with_all_and_not_told(place):
    root = DATA / "jax_cpu" / "three_runs"
    with web(root) as w:
        others = guarded(w, "sv=1&sig=s3cret%3D")
        mine = w.url + "?sv=1&sig=s3cret%3D"
        for command in (["list"], ["top"], ["report"], ["export"], ["list", "--format", "json"], ["serve", "--list-only"]):
            said = run(place, *command, mine)
            assert b"s3cret" not in said and b"sv=1" not in said
            if command == ["top"]:
                assert said == run(place, *command, root)
        file = max(root.rglob("*.xplane.pb")).relative_to(root)
        assert run(place, "top", f"{w.url}/{file}?sv=1&sig=s3cret%3D") == run(place, "top", root / file)
        assert others == []
        line = one_line(place, "list", w.url + "?sv=1&sig=s3cret-too")
        assert line.startswith(f"view_profile: {w.url}: ") and "s3cret" not in line


def test_secrets_of_the_environment(place):
    """An address beneath the one that stands there is asked for with what follows it there; any other is not."""
    with web(DATA / "jax_cpu") as w:
        others = guarded(w, "sig=s3cret")
        place.env["VIEW_PROFILE_ADDRESS"] = w.url + "/three_runs/?sig=s3cret"
        here = run(place, "list", DATA / "jax_cpu" / "three_runs")
        assert run(place, "list", w.url + "/three_runs") == here and others == []
        assert b"2026" in run(place, "top", w.url + "/three_runs/plugins/profile")
        one_line(place, "list", w.url + "/three_runs_more")
        one_line(place, "list", w.url + "/three_runs?sig=other")
        assert [urllib.parse.urlsplit(p).query for p in others if "sig" in p and "other" not in p] == [] and len(others) >= 2
        place.env["VIEW_PROFILE_ADDRESS"] = w.url.replace("://", "://bob:s3cret@")
        w.before = lambda r, path: r.headers.get("Authorization") != "Basic Ym9iOnMzY3JldA==" and (r.answer(401), True)[1]
        assert run(place, "list", w.url + "/three_runs") == here


# ---- What stores say, at the command line ----------------------------------------------------------------------------

S3_ERRORS = {
    "expired": (b"<Error><Code>ExpiredToken</Code><Message>x</Message></Error>", 0, "the credentials have expired: sign in again"),
    "clock": (b"<Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>", 1200, "the clock of this machine is 20 minutes ahead"),
}


@pytest.mark.parametrize("what", S3_ERRORS)
def test_what_a_store_refuses_is_one_line(place, what):
    body, ahead, words = S3_ERRORS[what]

    def act(r):
        r.send_response_only(403)
        r.send_header("Date", r.date_time_string(time.time() - ahead))
        r.send_header("Content-Length", str(len(body)))
        r.end_headers()
        r.wfile.write(body)

    with serving({"*": act}) as url:
        env = place.env | {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "hidden"}
        for command in ("list", "top", "report"):
            done = subprocess.run(["view_profile", command, "s3://b/logs"], env=env, capture_output=True, text=True)
            line, = done.stderr.splitlines()
            assert done.returncode == 3 and line.startswith("view_profile: s3://b/logs: ") and words in line and "hidden" not in line


def test_a_redirect_to_a_metadata_service_is_one_line(place, logs):
    logs.before = lambda r, path: (r.answer(302, Location="http://169.254.169.254/latest/meta-data/"), True)[1]
    assert "redirect to a loopback or link-local address refused" in one_line(place, "top", logs.url)


def test_a_proxy_of_the_environment_is_used(place):
    asked = []
    with serving({"*": lambda r: (asked.append(r.path), r.body(), r.answer(404))}) as proxy:
        place.env |= {"http_proxy": proxy}
        assert "none.example" in one_line(place, "list", "http://none.example/logs", code=4)
    assert asked and all(path.startswith("http://none.example/") for path in asked)


def test_large_archives_are_looked_into_where_they_are_named(place, logs):
    """Of 65 MiB beside a run one line says what to do; of 513 MiB no copy is made."""
    for name, size in (("some.zip", 65 << 20), ("more.zip", 513 << 20)):
        with open(logs.root / name, "wb") as f:
            f.write(b"PK\3\4" + bytes(26))
            f.truncate(size)
    done = subprocess.run(["view_profile", "list", "--verbose", logs.url], env=place.env, capture_output=True, text=True)
    assert done.returncode == 0 and "some.zip: a large remote archive: give its own address" in done.stderr
    assert not [at for at, _, _ in logs.log if at.endswith(".zip")]
    done = subprocess.run(["view_profile", "list", f"{logs.url}/more.zip"], env=place.env, capture_output=True, text=True)
    line, = done.stderr.splitlines()
    assert done.returncode == 3 and line.endswith("more.zip: 537919488 bytes exceed the limit for remote copies; download the file first")
