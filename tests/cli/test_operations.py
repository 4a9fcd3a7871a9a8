"""What an operator relies on: the index in the background, rescans, health, metrics, the access
log, the ends of the server, and the rights that it gives up."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

import pytest

from conftest import ROOT
from emulated import not_emulated
from serving import Serving, logged, make_runs
from test_serve import WAIT, first_line


@pytest.fixture
def runs(place):
    return make_runs(place.dir / "runs", 3)


def until(condition, seconds=WAIT):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def listed(s):
    return len(json.loads(s.get("/api/v1/sessions")[2])["sessions"])


def metric(s, name):
    found = re.search(rf"^{re.escape(name)} ([0-9.]+)$", s.get("/metrics")[2], re.M)
    return float(found.group(1)) if found else None


# ---- The index ------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def fast_program():
    """A build whose times and sizes mean something: no sanitizer in it."""
    for build in ("release", "clang", "dev"):
        path = ROOT / "build" / build / "view_profile"
        if path.exists() and b"__asan_init" not in path.read_bytes():
            return str(path)
    pytest.skip("SKIPPED: no build without sanitizers: times and memory mean nothing in one with")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def first_byte_ms(program, root, env):
    """From the start of the process to the first byte of the index page."""
    port = free_port()
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
    start = time.monotonic()
    p = subprocess.Popen([program, "--no-browser", "--port", str(port), str(root)], env=env,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                s = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
                break
            except ConnectionRefusedError:
                assert p.poll() is None
                time.sleep(0.0005)
        with s:
            s.sendall(request)
            assert s.recv(1) == b"H"
            took = (time.monotonic() - start) * 1000
            while s.recv(1 << 16):
                pass
        time.sleep(0.3)
        status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
        return took, int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024
    finally:
        p.kill()
        p.wait()


def best(measure, enough, tries=5, seconds=60):
    """What the program can do on a machine that is shared: the least of some measurements, and of more while none is
    good enough, for others may hold the machine up for a while."""
    taken, end = [], time.monotonic() + seconds
    while len(taken) < tries or (min(taken) >= enough and time.monotonic() < end):
        taken.append(measure())
    print(f"{min(taken):.1f} at best of {len(taken)}, {statistics.median(taken):.1f} in the median")
    return min(taken)


def test_a_thousand_sessions(place, fast_program):
    """The first byte within 50 ms, idle below 20 MB (docs/reference/http.md#service-levels); for
    memory the worst start counts."""
    root, resident = make_runs(place.dir / "many", 1000), []

    def first_byte():
        took, memory = first_byte_ms(fast_program, root, place.env)
        resident.append(memory)
        return took

    assert best(first_byte, 50) < 50
    assert max(resident) < 20e6 / (1 << 20)


def test_while_the_first_scan_runs(place):
    """Standard input from a pipe holds the first scan up as long as the test wants."""
    trace = make_runs(place.dir / "one", 1) / ".trace"
    p = subprocess.Popen(["view_profile", "--port", "0", "--no-browser", "-"], env=place.env,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        s = Serving.__new__(Serving)
        s.process, s.url = p, first_line(p.stdout).strip()
        s.port = int(re.search(r":(\d+)/", s.url).group(1))
        assert s.get("/healthz")[0] == 200
        assert s.get("/readyz")[0] == 503
        assert s.get("/")[0] == 200
        answer = json.loads(s.get("/api/v1/sessions")[2])
        assert answer["indexing"] is True and answer["sessions"] == []
        assert metric(s, "view_profile_index_ready") == 0
        p.stdin.write(trace.read_bytes())
        p.stdin.close()
        until(lambda: s.get("/readyz")[0] == 200)
        answer = json.loads(s.get("/api/v1/sessions")[2])
        assert "indexing" not in answer and len(answer["sessions"]) == 1
        p.stdin = None
        assert s.end(signal.SIGTERM)[0] == 0
    finally:
        p.kill()


def test_ctrl_c_while_standard_input_is_awaited(place):
    p = subprocess.Popen(["view_profile", "--port", "0", "--no-browser", "-"], env=place.env,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first_line(p.stdout)
    p.send_signal(signal.SIGINT)
    assert p.wait(WAIT) == 130
    p.communicate()


def test_a_run_appears_without_asking(place, runs):
    with Serving(place, "--port", 0, runs) as s:
        if not metric(s, "view_profile_watched_directories"):
            pytest.skip("SKIPPED: no inotify here")
        assert metric(s, "view_profile_sessions") == 3
        make_runs(runs, 1, first=3)
        until(lambda: metric(s, "view_profile_sessions") == 4)  # /metrics never scans
        shutil.rmtree(sorted((runs / "plugins" / "profile").iterdir())[0])
        until(lambda: metric(s, "view_profile_sessions") == 3)


def test_rescan_on_request(place, runs):
    with Serving(place, "--port", 0, runs) as s:
        own = f"Origin: http://127.0.0.1:{s.port}"
        make_runs(runs, 2, first=3)
        shutil.rmtree(sorted((runs / "plugins" / "profile").iterdir())[0])
        status, _, body = s.post("/api/v1/rescan", own)
        answer = json.loads(body)
        assert status == 200 and answer["sessions"] == 4 and answer["not_readable"] == 0
        # what the kernel reported meanwhile may have been scanned for already
        assert 0 <= answer["added"] <= 2 and 0 <= answer["removed"] <= 1
        again = json.loads(s.post("/api/v1/rescan", "Sec-Fetch-Site: none")[2])
        assert again == {"sessions": 4, "added": 0, "removed": 0, "not_readable": 0}


@pytest.mark.parametrize("fields,status", [
    (["Content-Type: application/json"], 403),
    (["Content-Type: application/json", "Sec-Fetch-Site: same-site"], 403),
    (["Content-Type: application/json", "Origin: https://ui.perfetto.dev"], 403),
    (["Content-Type: application/json", "Origin: http://localhost:8080"], 403),
    (["Content-Type: text/plain", "Sec-Fetch-Site: same-origin"], 415),
    (["Sec-Fetch-Site: same-origin"], 415),
    (["Content-Type: application/json", "Sec-Fetch-Site: same-origin"], 200)])
def test_who_may_rescan(place, runs, fields, status):
    with Serving(place, "--port", 0, runs) as s:
        before = metric(s, "view_profile_index_scans_total")
        assert s.request("POST", "/api/v1/rescan", "Content-Length: 2", *fields, body=b"{}")[0] == status
        assert s.get("/api/v1/rescan")[0] == 405
        assert (metric(s, "view_profile_index_scans_total") > before) == (status == 200)


def test_hangup_looks_again(place, runs):
    with Serving(place, "--port", 0, runs, start_new_session=True) as s:
        scans = metric(s, "view_profile_index_scans_total")
        s.process.send_signal(signal.SIGHUP)
        until(lambda: metric(s, "view_profile_index_scans_total") > scans)
        assert s.end(signal.SIGTERM)[0] == 0


def test_the_end_of_the_terminal_is_the_end(place, runs):
    """Without this, every closed ssh session would leave a server behind."""
    master, slave = os.openpty()

    def on_terminal():
        os.setsid()
        import fcntl
        import termios
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    with Serving(place, "--port", 0, runs, preexec_fn=on_terminal, pass_fds=[slave]) as s:
        os.close(slave)
        os.close(master)  # the kernel sends SIGHUP to the session's leader
        assert s.process.wait(WAIT) == 0


# ---- Figures --------------------------------------------------------------------------------

def test_metrics_name_routes_and_nothing_that_a_client_sent(place, runs):
    with Serving(place, "--port", 0, runs) as s:
        s.get("/healthz")
        s.get("/healthz")
        s.get("/secret-path-of-a-user?q=secret", "User-Agent: secret")
        s.get("/session/secret-id/")
        s.get("/", host="secret.example")
        s.request("SECRET", "/")
        until(lambda: metric(s, 'view_profile_http_requests_total{route="/healthz",code="200"}') == 2)
        status, headers, text = s.get("/metrics")
        assert status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "secret" not in text.lower()
        samples = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, value = re.fullmatch(r'([a-z_]+(?:\{(?:[a-z]+="[^"]*",?)+\})?) ([0-9.]+)', line).groups()
                assert name not in samples
                samples[name] = float(value)
        for name in samples:  # every family has its HELP and TYPE once
            family = re.sub(r"(_sum|_count)?(\{.*)?$", "", name)
            assert len(re.findall(rf"^# TYPE {family} (counter|gauge|summary)$", text, re.M)) == 1
            assert len(re.findall(rf"^# HELP {family} \S", text, re.M)) == 1
        requests = 'view_profile_http_requests_total{route="%s",code="%d"}'
        assert samples[requests % ("none", 404)] == 1
        assert samples[requests % ("none", 403)] == 1
        assert samples[requests % ("none", 501)] == 1
        assert samples[requests % ("/session/{}/", 404)] == 1
        assert samples["view_profile_sessions"] == 3
        assert samples["view_profile_http_in_flight"] == 1
        assert samples["process_open_fds"] > 5
        assert samples["process_resident_memory_bytes"] > 1e6
        assert samples["view_profile_http_request_seconds_count"] == sum(
            v for k, v in samples.items() if k.startswith("view_profile_http_requests_total"))


def test_bytes_are_counted_exactly(place, runs):
    with Serving(place, "--port", 0, runs) as s:
        before = metric(s, "view_profile_http_response_bytes_total")
        sizes = len(s.get("/metrics")[2])  # what the first line of this test sent lies in `before`
        _, headers, body = s.get("/static/app.css")
        assert int(headers["content-length"]) == len(body.encode())
        sizes += len(body.encode())
        assert s.request("HEAD", "/static/app.css")[2] == ""
        session = json.loads(s.get("/api/v1/sessions")[2])["sessions"][0]["id"]
        sizes += len(s.get("/api/v1/sessions")[2].encode()) * 2
        trace = s.get(f"/trace/{session}/raw/host.trace.json")[2]
        part = s.get(f"/trace/{session}/raw/host.trace.json", "Range: bytes=0-9")[2]
        assert len(part) == 10
        sizes += len(trace.encode()) + 10
        last = len(s.get("/metrics")[2])
        until(lambda: metric(s, "view_profile_http_response_bytes_total") >= before + sizes + last)


# ---- The access log -------------------------------------------------------------------------

HOSTILE = b'GET /a"b%0d%0aX?q="\\\'%1b[31m HTTP/1.1\r\nHost: %s\r\nUser-Agent: "x"\x1b[2J\xff\\ y\tz\r\n' \
          b'Referer: http://a/?token=hush&%%74oken=hush2&x=1\r\nConnection: close\r\n\r\n'


def hostile(s):
    return HOSTILE.replace(b"%s", f"127.0.0.1:{s.port}".encode()).replace(b"%%", b"%")


def finished(s):
    assert s.end(signal.SIGTERM)[0] == 0


def test_combined_log(place, runs):
    with Serving(place, "--port", 0, "--access-log", "log", runs) as s:
        s.get("/healthz", "User-Agent: plain")
        s.raw(hostile(s))
        s.request("HEAD", "/static/app.css")
        finished(s)
    path = place.dir / "log"
    assert path.stat().st_mode & 0o777 == 0o600
    raw = path.read_bytes()
    assert all(b == 10 or 32 <= b < 127 for b in raw)
    lines = logged(raw.decode())
    form = re.compile(r'127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
                      r'"((?:[^"\\]|\\x[0-9A-F]{2})*)" (\d{3}) (\d+|-) '
                      r'"((?:[^"\\]|\\x[0-9A-F]{2})*)" "((?:[^"\\]|\\x[0-9A-F]{2})*)"')
    fields = [form.fullmatch(line).groups() for line in lines]
    assert len(fields) == 3
    assert fields[0] == ("GET /healthz HTTP/1.1", "200", "3", "-", "plain")
    assert fields[1][0] == r'GET /a\x22b%0d%0aX?q=\x22\x5C\'%1b[31m HTTP/1.1'.replace("\\'", "'")
    assert fields[1][1] == "400"
    assert fields[1][3] == "http://a/?token=[token]&%74oken=[token]&x=1"
    assert fields[1][4] == r'\x22x\x22\x1B[2J\xFF\x5C y\x09z'
    assert fields[2][0].startswith("HEAD ") and fields[2][1:3] == ("200", "0")


def test_json_log(place, runs):
    with Serving(place, "--port", 0, "--access-log", "log", "--access-log-format", "json", runs) as s:
        s.get("/session/zzz/")
        s.raw(hostile(s))
        finished(s)
    raw = (place.dir / "log").read_bytes()
    assert not any(b < 32 and b != 10 for b in raw) and b"hush" not in raw
    first, second = [json.loads(line) for line in logged(raw.decode())]
    assert first["route"] == "/session/{}/" and first["status"] == 404 and first["remote"] == "127.0.0.1"
    assert set(first) == {"time", "remote", "method", "target", "version", "route", "status", "bytes",
                          "took_us", "referer", "user_agent"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert second["target"] == '/a"b%0d%0aX?q="\\\'%1b[31m' and second["route"] is None
    assert "\x1b[2J" in second["user_agent"]  # escaped in the file, whole in the value


def test_log_on_standard_output(place, runs):
    with Serving(place, "--port", 0, "--access-log", "-", runs) as s:
        s.get("/healthz")
        _, out, _ = s.end(signal.SIGTERM)
    line, = logged(out)
    assert re.fullmatch(r'127\.0\.0\.1 - - .*"GET /healthz HTTP/1\.1" 200 3 .*', line)


def test_a_log_that_nobody_reads_stalls_nothing(place, runs):
    """Standard output is a pipe that is full: requests are answered, and the server ends."""
    def ends_in_s():
        with Serving(place, "--port", 0, "--access-log", "-", runs) as s:
            agent = "User-Agent: " + "x" * 8000
            for _ in range(120):
                assert s.get("/healthz", agent)[0] == 200
            start = time.monotonic()
            s.process.send_signal(signal.SIGTERM)
            assert s.process.wait(WAIT) == 0
            return time.monotonic() - start

    assert best(ends_in_s, 6, tries=1) < 6  # requests in flight have 7 s


def test_a_log_that_cannot_be_written(place, runs):
    done = subprocess.run(["view_profile", "--port", "0", "--no-browser", "--access-log", "no/such/log",
                           str(runs)], cwd=place.dir, env=place.env, capture_output=True, text=True,
                          timeout=WAIT)
    assert done.returncode == 3
    assert re.fullmatch(r"view_profile: no/such/log: .*\n", done.stderr)


# ---- The end --------------------------------------------------------------------------------

@pytest.fixture
def big(place):
    root = make_runs(place.dir / "runs", 1)
    run = next((root / "plugins" / "profile").iterdir())
    body = b'{"traceEvents":[' + b" " * (24 << 20) + b"]}"
    (run / "big.trace.json").write_bytes(body)
    return root, run.name, len(body)


class Download(threading.Thread):
    """Reads so slowly that the server has to wait for it."""

    def __init__(self, s, target, pause):
        super().__init__()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self.socket.settimeout(WAIT)
        self.socket.connect(("127.0.0.1", s.port))
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n"
                            "Connection: close\r\n\r\n".encode())
        self.data, self.pause, self.error = bytearray(self.socket.recv(1000)), pause, None
        self.start()

    def run(self):
        try:
            while chunk := self.socket.recv(1 << 20):
                self.data += chunk
                time.sleep(self.pause)
        except OSError as e:
            self.error = e

    def body_length(self):
        self.join()
        head, _, body = self.data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        return len(body), int(re.search(rb"Content-Length: (\d+)", head).group(1))


def raw_target(s, run):
    session = [x["id"] for x in json.loads(s.get("/api/v1/sessions")[2])["sessions"] if x["name"].endswith(run)]
    return f"/trace/{session[0]}/raw/big.trace.json"


def test_downloads_in_flight_finish(place, big):
    root, run, size = big
    with Serving(place, "--port", 0, root) as s:
        target = raw_target(s, run)
        downloads = [Download(s, target, 0.0005) for _ in range(8)]
        s.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        with pytest.raises(OSError):  # nobody new
            s.get("/healthz")
            raise ConnectionRefusedError
        for d in downloads:
            assert d.body_length() == (size, size) and d.error is None
        assert s.process.wait(WAIT) == 0


def test_nothing_is_truncated_when_it_ends_under_load(place, big):
    """Twelve clients ask for small and large things without pause while the server is told to stop:
    whatever begins to arrive, arrives whole."""
    root, run, _ = big
    wrong, whole, over = [], [0], threading.Event()
    with Serving(place, "--port", 0, root) as s:
        session = raw_target(s, run).split("/")[2]
        targets = ["/", "/static/app.css", "/api/v1/sessions", f"/session/{session}/", raw_target(s, run),
                   f"/trace/{session}/host.json"]

        def client(target):
            while not over.is_set():
                try:
                    c = socket.create_connection(("127.0.0.1", s.port), timeout=WAIT)
                except OSError:
                    return  # refused: it listens no more
                data = bytearray()
                with c:
                    try:
                        c.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n"
                                  "Connection: close\r\n\r\n".encode())
                        while chunk := c.recv(1 << 18):
                            data += chunk
                    except OSError as e:
                        if data:
                            wrong.append((target, len(data), e))
                        return
                if not data:
                    return  # was in the queue of connections that nobody accepted
                head, _, body = bytes(data).partition(b"\r\n\r\n")
                length = re.search(rb"Content-Length: (\d+)", head)
                if length and int(length.group(1)) != len(body) or not length and not body.endswith(b"0\r\n\r\n"):
                    wrong.append((target, len(body), head))
                whole[0] += 1
        clients = [threading.Thread(target=client, args=(t,)) for t in targets * 2]
        for c in clients:
            c.start()
        until(lambda: whole[0] >= 20)
        s.process.send_signal(signal.SIGTERM)
        code = s.process.wait(WAIT)
        over.set()
        for c in clients:
            c.join()
    assert code == 0 and not wrong


@pytest.mark.waits
def test_a_download_that_never_ends_is_cut(place, big):
    root, run, size = big
    with Serving(place, "--port", 0, root) as s:
        d = Download(s, raw_target(s, run), 1.0)
        start = time.monotonic()
        s.process.send_signal(signal.SIGTERM)
        assert s.process.wait(WAIT) == 0
        assert time.monotonic() - start > 6  # 7 s for requests in flight
        d.pause = 0  # what is left of it lies in sockets
        got, _ = d.body_length()
        assert got < size


@pytest.mark.parametrize("first,second", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGINT),
                                          (signal.SIGINT, signal.SIGTERM)])
def test_a_second_signal_ends_at_once(place, big, first, second):
    root, run, _ = big

    def ends_in_s():
        with Serving(place, "--port", 0, root) as s:
            d = Download(s, raw_target(s, run), 0.5)
            s.process.send_signal(first)
            while b"stopping" not in s.process.stderr.readline():
                pass
            with pytest.raises(subprocess.TimeoutExpired):
                s.process.wait(0.3)
            start = time.monotonic()
            s.process.send_signal(second)
            assert s.process.wait(WAIT) == 130
            took = time.monotonic() - start
            d.socket.close()
            return took

    assert best(ends_in_s, 5, tries=1) < 5  # requests have 7 s; how fast it is: test_how_fast_it_ends


def test_how_fast_it_ends(place, big, fast_program):
    """docs/reference/http.md#service-levels: idle within 100 ms, on a second signal within 50
    ms."""
    root, run, _ = big

    def ends_in_ms(s, code):
        start = time.monotonic()
        s.process.send_signal(signal.SIGTERM)
        assert s.process.wait(WAIT) == code
        return (time.monotonic() - start) * 1000

    def idle():
        with Serving(place, "--port", 0, root, program=fast_program) as s:
            s.get("/")
            return ends_in_ms(s, 0)

    def second():
        with Serving(place, "--port", 0, root, program=fast_program) as s:
            d = Download(s, raw_target(s, run), 0.5)
            s.process.send_signal(signal.SIGTERM)
            while b"stopping" not in s.process.stderr.readline():
                pass
            took = ends_in_ms(s, 130)
            d.socket.close()
            return took

    assert best(idle, 100) < 100
    assert best(second, 50) < 50


# ---- The sandbox ----------------------------------------------------------------------------

def landlock_abi():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    return max(libc.syscall(444, None, 0, 1), 0)


SPY = """#!/bin/sh
# Stands for a TensorBoard: says what it may write, then stays.
try() {{ (echo x > "$1") 2>/dev/null && echo "$1" >> {temp}/could; }}
try {runs}/x; try {home}/x; try {work}/x; try {temp}/x
cat {home}/config > {temp}/read 2>/dev/null
echo done > {temp}/done
exec sleep 60
"""


def spy_results(place, runs, *args):
    """What a program can do that the server starts in a TensorBoard's place."""
    home = pathlib.Path(place.env["HOME"])
    (home / "config").write_text("read me\n")
    spy = place.dir / "spy"
    spy.write_text(SPY.format(runs=runs, home=home, work=place.dir, temp=place.temp))
    spy.chmod(0o755)
    port = free_port()
    with Serving(place, "--port", 0, "--tensorboard-port", port, *args, runs,
                 env={"VIEW_PROFILE_TENSORBOARD": str(spy)}) as s:
        session = json.loads(s.get("/api/v1/sessions")[2])["sessions"][0]["id"]
        s.get(f"/tensorboard/{session}")
        until(lambda: (place.temp / "done").exists())
        finished(s)
    could = {pathlib.Path(line).parent for line in (place.temp / "could").read_text().splitlines()}
    return could, (place.temp / "read").read_text()


@pytest.fixture
def xspace_runs(place):
    """TensorBoard is only started for a session that it reads: one with an xplane file, here an
    empty plane called "x"."""
    run = place.dir / "runs" / "plugins" / "profile" / "2026_01_01_00_00_00"
    run.mkdir(parents=True)
    (run / "host.xplane.pb").write_bytes(bytes([0x0A, 0x03, 0x12, 0x01]) + b"x")
    (run / "host.trace.json").write_text('{"traceEvents":[]}')
    return place.dir / "runs"


def test_nothing_is_written_outside_temporary_directories(place, xspace_runs):
    if not landlock_abi():
        pytest.skip("SKIPPED: this kernel has no Landlock")
    not_emulated("there is no Landlock")
    could, read = spy_results(place, xspace_runs)
    assert could == {place.temp}
    assert read == "read me\n"  # TensorBoard may lie, and read, anywhere


@pytest.mark.parametrize("same", [True, False])
def test_a_running_xprof_is_seen_from_inside(place, xspace_runs, same):
    """Landlock hides other processes. Which directory a standalone XProf shows only its command
    line and working directory tell; our process outside looks at them. One over another directory
    with a run of the same name is not taken."""
    elsewhere = place.dir / "elsewhere"
    shutil.copytree(xspace_runs, elsewhere / "runs")
    port = free_port()
    fake = subprocess.Popen([sys.executable, str(ROOT / "tests" / "http" / "fake_tensorboard.py"), "--logdir",
                             "runs", "--host", "127.0.0.1", "--port", str(port)], env={**os.environ, "FAKE_TB": "xprof"},
                            cwd=place.dir if same else elsewhere, stderr=subprocess.PIPE)
    try:
        assert b"fake at" in next(line for line in fake.stderr if b"fake at" in line)
        with Serving(place, "--port", 0, "--tensorboard-port", port, xspace_runs,
                     env={"VIEW_PROFILE_TENSORBOARD": "/bin/false"}) as s:
            session = json.loads(s.get("/api/v1/sessions")[2])["sessions"][0]["id"]
            status, headers, _ = s.get(f"/tensorboard/{session}")
            if same:
                assert status == 303 and headers["location"].startswith(f"http://127.0.0.1:{port}/")
            else:
                assert status != 303
            finished(s)
    finally:
        fake.kill()
        fake.communicate()


SLOW_START = r"""#include <sys/syscall.h>
#include <unistd.h>
pid_t setsid(void) { usleep(300000); return (pid_t)syscall(SYS_setsid); }
"""


@pytest.mark.parametrize("slow", [False, True])
def test_the_processes_outside_end_with_us(place, runs, slow):
    """Also on a busy machine, where they come to run long after they were made: nobody is served before
    each is what it is to be, out of reach of Ctrl-C and without the server's sockets."""
    def children(pid):
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    env = {}
    if slow:
        source, library = place.dir / "slow.c", place.dir / "slow.so"
        source.write_text(SLOW_START)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        env = {"LD_PRELOAD": str(library),
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    with Serving(place, "--port", 0, runs, env=env) as s:
        outside = [pathlib.Path(f"/proc/{pid}") for pid in children(s.process.pid)]
        assert sorted((p / "comm").read_text().strip() for p in outside) == ["vp-capture", "vp-lookup"]
        s.process.kill()
        s.process.wait()
        until(lambda: not any(p.exists() for p in outside))
    with Serving(place, "--port", 0, "--ui", "none", "--no-capture", runs) as s:
        assert children(s.process.pid) == []


def processes_outside(server):
    """name → (NoNewPrivs, pid) of the children of a server."""
    out = {}
    for pid in pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split():
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        out[status["Name"]] = (status["NoNewPrivs"], int(pid))
    return out


def test_what_is_outside_can_do_no_more_than_it_is_for(place, runs):
    """The process that opens the browser is not there when none is wanted, and is gone when it did; no
    program that it starts gains rights."""
    browser = place.dir / "browser"
    browser.write_text(f"#!/bin/sh\ngrep NoNewPrivs /proc/self/status > {place.dir}/seen.tmp\nmv {place.dir}/seen.tmp {place.dir}/seen\n")
    browser.chmod(0o755)
    with Serving(place, "--port", 0, runs) as s:  # --no-browser
        found = processes_outside(s.process.pid)
        assert "vp-outside" not in found
        assert {rights for rights, _ in found.values()} == {"1"}
    p = subprocess.Popen(["view_profile", "--port", "0", str(runs)], cwd=place.dir, stdin=subprocess.DEVNULL,
                         env={**place.env, "BROWSER": str(browser)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert p.stdout.readline().startswith(b"http://127.0.0.1:")
        until(lambda: (place.dir / "seen").exists())
        assert (place.dir / "seen").read_text().split() == ["NoNewPrivs:", "1"]
        until(lambda: "vp-outside" not in processes_outside(p.pid))
        p.send_signal(signal.SIGTERM)
        assert p.wait(30) == 0
    finally:
        p.kill()
        p.communicate()


def test_without_the_sandbox(place, xspace_runs):
    could, _ = spy_results(place, xspace_runs, "--no-sandbox")
    assert could == {place.temp, place.dir, xspace_runs, pathlib.Path(place.env["HOME"])}


@pytest.mark.parametrize("ui", ["perfetto", "none"])
def test_everything_works_with_the_narrow_sandbox(place, runs, ui):
    """Where no TensorBoard is started, reading is restricted too."""
    with Serving(place, "--port", 0, "--ui", ui, "--access-log", "log", runs) as s:
        session = json.loads(s.get("/api/v1/sessions")[2])["sessions"][0]["id"]
        for target in ["/", f"/session/{session}/", f"/trace/{session}/host.json",
                       f"/trace/{session}/host.json.gz", f"/trace/{session}/raw/host.trace.json",
                       f"/api/v1/session/{session}/report", f"/perfetto/{session}"]:
            assert s.get(target)[0] == 200, target
        assert metric(s, "process_open_fds") > 0 and metric(s, "process_resident_memory_bytes") > 0
        make_runs(runs, 1, first=3)
        assert json.loads(s.post("/api/v1/rescan", "Sec-Fetch-Site: none")[2])["sessions"] == 4
        finished(s)
    assert len(logged((place.dir / "log").read_text())) == 11


@pytest.mark.parametrize("what", ["file", "archive"])
def test_a_single_file_with_the_narrow_sandbox(place, runs, what):
    path = place.dir / "trace.json"
    shutil.copy(runs / ".trace", path)
    if what == "archive":
        path = shutil.make_archive(str(place.dir / "all"), "zip", runs, "plugins")
    with Serving(place, "--port", 0, "--ui", "perfetto", path) as s:
        assert listed(s) == (1 if what == "file" else 3)
        session = json.loads(s.get("/api/v1/sessions")[2])["sessions"][0]["id"]
        assert s.get(f"/session/{session}/")[0] == 200
        finished(s)
