"""`view_profile capture` against a stand-in for XLA's ProfilerService: what lands, what is said, and that nothing
half-written stays, whatever the other side does."""
import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fetching  # noqa: E402
from emulated import not_emulated, plain_program  # noqa: E402
from fetching import field, fields  # noqa: E402
from stores import shelf  # noqa: E402
from traces import ROOT  # noqa: E402

pytest.importorskip("h2", reason="SKIP: scripts/requirements-test.txt is not installed: h2")
import h2.events  # noqa: E402
import profiler_server  # noqa: E402
from profiler_server import TERMINATE, ProfilerServer, environment, frame, plane, request, response  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
WAIT = 60
REAL = next((ROOT / "tests" / "data" / "jax_cpu").rglob("*.xplane.pb"))
XSPACE = plane("/host:CPU") + field(3, "a warning") + field(4, "a host")


def command(*args):
    return ["view_profile", "capture", *map(str, args)]


def capture(place, *args, env=None, shell=None, **more):
    argv = command(*args)
    if shell:
        argv = ["bash", "-c", f"{shell}; exec \"$@\"", "bash", *argv]
    return subprocess.run(argv, cwd=place.dir, env={**place.env, **(env or {})}, capture_output=True, text=True,
                          timeout=WAIT, **more)


def quick(*targets, ms=50):
    return ["--duration", f"{ms}ms", *targets]


def events(done):
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {e["schema"] for e in lines} == {"view_profile.capture/1"}
    assert (lines[0]["event"], lines[-1]["event"]) == ("begin", "end")
    return lines


def left(place):
    """Everything below the working directory, dotfiles too."""
    return sorted(str(p.relative_to(place.dir)) for p in place.dir.rglob("*"))


def fails(place, *args, exit_code=6, says="", **more):
    """One line, its exit code, and nothing on the disk."""
    before = left(place)
    done = capture(place, *args, **more)
    assert (done.returncode, done.stdout) == (exit_code, ""), done.stderr
    assert done.stderr.startswith("view_profile: ") and done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr
    assert left(place) == before
    return done.stderr


def landed(place, out="."):
    return sorted((place.dir / out / "plugins" / "profile").rglob("*.xplane.pb"))


# ---- What is asked ----

def test_a_profile_lands_and_its_ops_are_shown(place):
    real = REAL.read_bytes()
    with ProfilerServer(lambda call: call.answer(response(real))) as server:
        done = capture(place, *quick(server.target), "--out", "logs", "--top", 3)
        assert done.returncode == 0, done.stderr
        (file,) = landed(place, "logs")
        assert file.read_bytes() == real
        assert re.fullmatch(r"\d{4}(_\d\d){5}", file.parent.name)
        assert file.name == f"127.0.0.1_{server.port}.xplane.pb"
        top = subprocess.run(["view_profile", "top", "--top", "3", file.parent], cwd=place.dir, env=place.env,
                             capture_output=True, text=True, check=True)
        said, page = done.stdout.rsplit("\npage: ", 1)
        assert said == top.stdout
        assert re.fullmatch(rf"view_profile serve --profile-dir logs, then http://127\.0\.0\.1:90\d\d/session/{file.parent.name}/\n", page)
        (call,) = server.asked()
        asked = request(call)
        assert call.headers["content-type"] == "application/grpc" and call.headers["te"] == "trailers"
        assert re.fullmatch(r"\d{1,8}m", call.headers["grpc-timeout"])
        assert asked[6].decode() == file.parent.name and asked[7].decode() == server.target
        assert asked[5].decode() == str(place.dir / "logs" / "plugins" / "profile")
        assert (asked[1], asked[9], asked["opts"]) == (50, 1, {1: 1, 2: 2, 3: 1, 5: 1, 7: 1, 9: 50})


@pytest.mark.parametrize(("text", "ms"), [("20", 20), ("20ms", 20), ("0.02s", 20), ("1s", 1000)])
def test_durations(place, text, ms):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        assert capture(place, server.target, "--duration", text, "--format", "json").returncode == 0
        assert request(server.asked()[0])["opts"][9] == ms


def test_what_is_traced_is_the_users_to_say(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        done = capture(place, *quick(server.target), "--host-tracer", 0, "--device-tracer", 2, "--python-tracer", "--option",
                       "tpu_trace_mode=TRACE_COMPUTE", "--option", "enable_hlo_proto=false", "--format", "json")
        assert done.returncode == 0, done.stderr
        opts = request(server.asked()[0])["opts"]
        assert 2 not in opts and 7 not in opts and (opts[3], opts[4]) == (2, 1)
        assert dict(fields(opts[12]))[1] == b"tpu_trace_mode"


@pytest.mark.parametrize("args", [[], ["localhost"], ["localhost:0"], ["localhost:65536"], ["local host:1"], ["http://a:1"],
                                  ["a:1/x"], ["-a:1"], ["a:1,a:1"], ["a:1", "--duration", "0"], ["a:1", "--duration", "2x"],
                                  ["a:1", "--option", "x"], ["a:1", "--name", "../x"], ["a:1", "--name", ".x"],
                                  ["a:1", "--host-tracer", "4"]])
def test_what_makes_no_sense(place, args):
    fails(place, *args, exit_code=2)


def test_events_as_json(place):
    def plan(call):
        call.begin()
        call.wait(0.5)
        call.data(response(XSPACE))
        call.end()

    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target, ms=500), "--format", "json", "--name", "mine")
        assert done.returncode == 0 and done.stderr == ""
        first, *between, last = events(done)
        path = "./plugins/profile/mine"
        assert first == {"schema": "view_profile.capture/1", "event": "begin", "run": "mine", "path": path,
                         "targets": [server.target], "duration_ms": 500}
        assert {e["event"] for e in between} == {"progress"} and len(between) < 10
        assert {e["target"] for e in between} == {server.target}
        assert any(e["state"] == "profiling" and 0 < e["left_ms"] <= 500 for e in between)
        assert last == {"schema": "view_profile.capture/1", "event": "end", "ok": True, "exit": 0, "run": "mine", "path": path,
                        "spread_ms": None, "targets": [{"target": server.target, "host": f"127.0.0.1_{server.port}",
                                                        "bytes": len(XSPACE), "error": None, "code": None}]}


# ---- How it comes ----

@pytest.mark.parametrize("piece", [1, 7, 16384])
def test_frames_may_be_cut_anywhere(place, piece):
    xspace = XSPACE + plane("n" * (300 if piece < 100 else 300000))
    with ProfilerServer(lambda call: call.answer(response(xspace), piece)) as server:
        done = capture(place, *quick(server.target), "--format", "json")
        assert done.returncode == 0, done.stderr
        assert landed(place)[0].read_bytes() == xspace


def test_several_hosts_are_one_run(place):
    """That were asked to begin together, and what came of it is said."""
    def plan(start_ns):
        return lambda call: call.answer(response(XSPACE + environment(start_ns)))

    begun = time.time_ns()
    with ProfilerServer(plan(begun)) as a, ProfilerServer(plan(begun + 3_000_000)) as b:
        (place.dir / "hosts").write_text(f"# a fleet\n{b.target}  # the second\n\n")
        done = capture(place, *quick(a.target), "--hosts-file", "hosts", "--format", "json")
        assert done.returncode == 0, done.stderr
        assert [f.name for f in landed(place)] == sorted(f"127.0.0.1_{s.port}.xplane.pb" for s in (a, b))
        starts = {request(s.asked()[0])["opts"][8] for s in (a, b)}
        assert len(starts) == 1 and 0 < starts.pop() - time.time_ns() + 10**10 < 2 * 10**10
        assert events(done)[-1]["spread_ms"] == 3
        done = capture(place, *quick(f"{a.target},{b.target}"))
        assert done.returncode == 0 and "the hosts started within 3 ms of each other" in done.stderr, done.stderr


@pytest.mark.parametrize(("off_s", "says"), [(1200, "its clock is 1[12]\\d\\d s ahead of the local clock"), (-1200, "its clock is 1[12]\\d\\d s behind the local clock"),
                                             (30, None), (-30, None)])
def test_a_clock_that_is_wrong_is_said(place, off_s, says):
    xspace = XSPACE + environment(time.time_ns() + off_s * 10**9)
    with ProfilerServer(lambda call: call.answer(response(xspace))) as server:
        done = capture(place, *quick(server.target), "--format", "json")
        assert done.returncode == 0
        assert re.fullmatch(f"view_profile: {server.target}: {says}\n", done.stderr) if says else not done.stderr


def test_all_record_together_and_no_more_than_parallel_send(place):
    """Each has more than buffers on the way hold; what it sends is not read before those ahead of it are done."""
    sending, most, lock = [], [], threading.Lock()
    xspace = XSPACE + plane("/host:padding", field(2, b"x" * (48 << 20)))
    together = threading.Barrier(6)

    def plan(call):
        together.wait(WAIT)  # none is told to wait with recording until others are done
        text = response(xspace)
        call.begin()
        call.data(text[:24 << 20], 1 << 20)
        with lock:
            sending.append(call)
            most.append(len(sending))
        call.data(text[24 << 20:-1], 1 << 20)
        with lock:
            sending.remove(call)
        call.data(text[-1:])
        call.end()

    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(ProfilerServer(plan)) for _ in range(6)]
        done = capture(place, *quick(",".join(s.target for s in servers)), "--parallel", 2, "--format", "json")
        starts = {request(s.asked()[0])["opts"][8] for s in servers}
    assert done.returncode == 0, done.stderr
    assert len(starts) == 1 and max(most) <= 2 and len(landed(place)) == 6
    assert {f.stat().st_size for f in landed(place)} == {len(xspace)}


def test_an_interrupt_ends_those_that_wait_to_send(place):
    big = XSPACE + plane("/host:padding", field(2, b"x" * (8 << 20)))
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(ProfilerServer(lambda call: (call.begin(), call.data(response(big)[:1 << 20]), call.wait(WAIT),
                                                                    call.data(response(big)[1 << 20:]), call.end()))) for _ in range(3)]
        child = subprocess.Popen(command(*quick(",".join(s.target for s in servers)), "--parallel", 1, "--format", "json"),
                                 cwd=place.dir, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2.5)
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=WAIT)
        assert child.returncode == 0 and all(s.asked(TERMINATE) for s in servers), said
    assert {f.stat().st_size for f in landed(place)} == {len(big)} and len(landed(place)) == 3


def test_what_came_of_some_is_kept(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as good, \
            ProfilerServer(lambda call: call.only_trailers(13, "no")) as bad:
        done = capture(place, *quick(f"{bad.target},{good.target}"), "--format", "json")
        assert done.returncode == 6
        assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"view_profile: {bad.target}: ")
        assert [f.name for f in landed(place)] == [f"127.0.0.1_{good.port}.xplane.pb"]
        end = events(done)[-1]
        assert (end["ok"], end["exit"]) == (False, 6)
        assert [t["code"] for t in end["targets"]] == ["failed", None]


def test_two_in_one_second(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        argv = command(*quick(server.target), "--format", "json")
        both = [subprocess.Popen(argv, cwd=place.dir, env=place.env, stdout=subprocess.DEVNULL) for _ in range(4)]
        assert [p.wait(WAIT) for p in both] == [0] * 4
        names = {f.parent.name for f in landed(place)}
        assert len(names) == 4
        assert all(re.fullmatch(r"\d{4}(_\d\d){5}(_[234])?", n) for n in names)


def test_no_file_is_written_over(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        run = place.dir / "plugins" / "profile" / "mine"
        run.mkdir(parents=True)
        (run / f"127.0.0.1_{server.port}.xplane.pb").write_bytes(b"old")
        fails(place, *quick(server.target), "--name", "mine", says="already has this host")
        assert landed(place)[0].read_bytes() == b"old" and not server.asked()


def test_a_file_that_is_made_meanwhile_stays(place):
    def plan(call):
        (place.dir / "plugins" / "profile" / "mine" / f"127.0.0.1_{server.port}.xplane.pb").write_bytes(b"theirs")
        call.answer(response(XSPACE))

    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target), "--name", "mine")
        assert done.returncode == 6 and done.stderr.count("\n") == 1
        assert landed(place)[0].read_bytes() == b"theirs"


def test_nothing_has_its_name_before_it_is_whole(place):
    half, go_on = threading.Event(), threading.Event()

    def plan(call):
        text = response(XSPACE + plane("n" * 100000))
        call.begin()
        call.data(text[:50000])
        half.set()
        go_on.wait(WAIT)
        call.data(text[50000:])
        call.end()

    with ProfilerServer(plan) as server:
        child = subprocess.Popen(command(*quick(server.target), "--name", "r", "--format", "json"), cwd=place.dir, env=place.env,
                                 stdout=subprocess.DEVNULL)
        assert half.wait(WAIT)
        time.sleep(0.3)
        assert not landed(place)
        go_on.set()
        assert child.wait(WAIT) == 0 and len(landed(place)) == 1


def test_killed_midway_nothing_half_written_stays(place):
    half = threading.Event()

    def plan(call):
        call.begin()
        call.data(response(XSPACE + plane("n" * 100000))[:50000])
        half.set()
        call.wait(WAIT)

    with ProfilerServer(plan) as server:
        child = subprocess.Popen(command(*quick(server.target), "--name", "r"), cwd=place.dir, env=place.env)
        assert half.wait(WAIT)
        child.kill()
        child.wait(WAIT)
        assert left(place) == ["plugins", "plugins/profile", "plugins/profile/r"]


# ---- Its end before its time ----

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_and_keeps_what_came(place, number):
    begun = threading.Event()

    def plan(call):
        begun.set()
        assert call.wait(WAIT)  # until Terminate
        call.answer(response(XSPACE))

    with ProfilerServer(plan) as server:
        child = subprocess.Popen(command("--duration", "1m", server.target, "--name", "r", "--format", "json"), cwd=place.dir,
                                 env=place.env, stdout=subprocess.PIPE, text=True)
        assert begun.wait(WAIT)
        child.send_signal(number)
        out, _ = child.communicate(timeout=WAIT)
        assert child.returncode == 0 and json.loads(out.splitlines()[-1])["ok"]
        assert landed(place)[0].read_bytes() == XSPACE
        assert fields(server.asked(TERMINATE)[0].message[5:]) == [(1, b"r")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_it_connects_ends_it_at_once(place, number):
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # and nobody accepts: what comes after the first few hangs
        for _ in range(4):
            before = stack.enter_context(socket.socket())
            before.setblocking(False)
            before.connect_ex(full.getsockname())
        target = "127.0.0.1:%d" % full.getsockname()[1]
        # Nothing but the signal ends it within WAIT.
        child = subprocess.Popen(command("--duration", "1m", "--patience", "10m", target, "--format", "json"), cwd=place.dir,
                                 env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in child.stdout:
            if '"connecting"' in line:
                break
        time.sleep(0.5)
        child.send_signal(number)
        _, said = child.communicate(timeout=WAIT)
        assert child.returncode == 6
        assert said == f"view_profile: {target}: canceled before the connection was established\n" and left(place) == []


def test_a_second_interrupt_gives_it_up(place):
    begun = threading.Event()

    def plan(call):
        begun.set()
        time.sleep(3)

    with ProfilerServer(plan) as server:
        child = subprocess.Popen(command("--duration", "1m", server.target, "--name", "r"), cwd=place.dir, env=place.env,
                                 stderr=subprocess.PIPE, text=True)
        assert begun.wait(WAIT)
        child.send_signal(signal.SIGINT)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=WAIT)
        assert (child.returncode, said) == (6, f"view_profile: {server.target}: canceled\n")
        assert left(place) == []


# ---- What goes wrong over there ----

STATUSES = [(1, "cancelled"), (2, "failed"), (3, "failed"), (4, "deadline"), (6, "busy"), (7, "refused"), (8, "busy"),
            (9, "busy"), (12, "no_service"), (13, "failed"), (14, "busy"), (16, "refused"), (99, "failed")]


@pytest.mark.parametrize(("status", "word"), STATUSES)
@pytest.mark.parametrize("only", [True, False], ids=["trailers only", "after headers"])
def test_a_status_is_said_with_its_message(place, status, word, only):
    message = "r%C3%A9sum%C3%A9 100%25 %1b[31mred%0Aline %zz"
    def plan(call):
        if only:
            call.only_trailers(status, message)
        else:
            call.begin()
            call.end(status, message)

    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target), "--format", "json")
        assert done.returncode == 6 and left(place) == []
        (target,) = events(done)[-1]["targets"]
        assert target["code"] == word
        assert f"(gRPC status {status}: résumé 100% \\x1b[31mred\\x0aline %zz)" in target["error"]
        assert done.stderr == f"view_profile: {server.target}: {target['error'].replace(chr(92), chr(92))}\n"


def test_a_refusal_that_comes_before_the_whole_request(place, monkeypatch):
    """As a gRPC server refuses a method that it does not have: by its head alone, which ends the stream."""
    def take(self, event, open_calls):
        if isinstance(event, h2.events.RequestReceived):
            self.h2.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "12")],
                                 end_stream=True)

    monkeypatch.setattr(profiler_server.Connection, "take", take)
    with ProfilerServer(None) as server:
        for _ in range(12):  # each ends before WAIT, and so not by its patience
            fails(place, *quick(server.target), "--patience", "10m", says="(gRPC status 12)")


def test_what_jax_says_of_a_session_that_is_on(place):
    with ProfilerServer(lambda call: call.only_trailers(13, "Another profiling session active.")) as server:
        fails(place, *quick(server.target), says="busy with another capture")


def resets(call):
    call.begin()
    call.data(response(XSPACE)[:20])
    call.reset()


def hangs_up(call):
    call.begin()
    call.data(response(XSPACE)[:20])
    time.sleep(0.2)  # or libcurl may not look at it any more
    call.hang_up()


def without_status(call):
    call.begin()
    call.connection.send(lambda c: c.send_data(call.stream, response(XSPACE), end_stream=True))


def answers(text):
    return lambda call: call.answer(text)


BROKEN = {
    "half a response": (answers(response(XSPACE)[:20]), "damaged", "cut off after"),
    "nothing": (answers(b""), "damaged", "response is empty"),
    "compressed": (answers(response(XSPACE, flag=1)), "damaged", "compressed"),
    "4 GiB": (answers(response(XSPACE, claim=0xFFFFFFFF)), "damaged", "too large: 4294967295 bytes"),
    "3 GiB": (answers(response(XSPACE, claim=3 << 30)), "damaged", "cut off after"),
    "two messages": (answers(response(XSPACE) * 2), "damaged", "more than one message"),
    "no XSpace": (answers(response(b"<html>not here</html>")), "damaged", "no valid XSpace"),
    "a plane too long": (answers(response(b"\x0a\x7fxx")), "damaged", "no valid XSpace"),
    "no ProfileResponse": (answers(frame(b"\x42")), "damaged", "not a ProfileResponse"),
    "an empty trace": (answers(frame(field(7, 1))), "empty", "the program ran nothing"),
    "an empty XSpace": (answers(response(b"")), "empty", "the program ran nothing"),
    "no field 8": (answers(frame(field(7, 0))), "no_service", "its own disk"),
    "an empty message": (answers(frame(b"")), "no_service", "its own disk"),
    "other files": (answers(frame(field(6, field(1, "trace.json")))), "no_service", "returned other files"),
    "reset": (resets, "failed", "connection lost after"),
    "hang up": (hangs_up, "failed", "connection lost after 20 bytes"),
    "no status": (without_status, "damaged", "without a gRPC status"),
    "a web page": (lambda call: (call.begin(kind="text/html"), call.data(b"hello"), call.end()), "no_service", "not a profiler"),
    "not found": (lambda call: (call.begin(status="404", kind="text/html"), call.data(b"no"), call.end()), "no_service", "HTTP 404"),
    "a redirect": (lambda call: (call.begin(("location", "http://127.0.0.1:1/"), status="302"), call.end()), "no_service", "HTTP 302"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_one_line(place, name):
    plan, word, says = BROKEN[name]
    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target), "--format", "json")
        assert done.returncode == 6 and left(place) == [], done.stdout
        (target,) = events(done)[-1]["targets"]
        assert target["code"] == word and says in target["error"], target
        assert done.stderr == f"view_profile: {server.target}: {target['error']}\n"


def test_silence_has_an_end(place):
    with ProfilerServer(lambda call: call.wait(WAIT)) as server:
        begun = time.monotonic()
        said = fails(place, *quick(server.target), "--patience", "400ms", says="timed out: no response within")
        assert time.monotonic() - begun < WAIT / 2 and server.target in said


def test_a_stall_has_an_end(place):
    def plan(call):
        call.begin()
        call.data(response(XSPACE)[:20])
        call.wait(WAIT)

    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target), "--patience", "400ms", "--format", "json")
        (target,) = events(done)[-1]["targets"]
        assert target["code"] == "deadline" and "after 20 bytes" in target["error"] and left(place) == []


def test_slow_is_not_silent(place):
    """Whoever sends something now and then is waited for, as long as it takes."""
    def plan(call):
        call.begin()
        for byte in response(XSPACE):
            call.data(bytes([byte]))
            time.sleep(0.03)
        call.end()

    with ProfilerServer(plan) as server:
        assert capture(place, *quick(server.target), "--patience", "600ms", "--format", "json").returncode == 0


def test_an_old_server_on_this_machine_writes_where_we_would(place):
    def plan(call):
        asked = request(call)
        path = pathlib.Path(asked[5].decode()) / asked[6].decode() / f"{asked[7].decode().replace(':', '_')}.xplane.pb"
        path.write_bytes(XSPACE)
        call.answer(frame(b""))

    with ProfilerServer(plan) as server:
        done = capture(place, *quick(server.target), "--format", "json")
        assert done.returncode == 0, done.stderr
        assert landed(place)[0].read_bytes() == XSPACE


class Talker:
    """A TCP server that says the same to everybody."""

    def __init__(self, text, close=True):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.text, self.close = text, close
        self.kept = []

    def run(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            try:
                sock.recv(65536)
                sock.sendall(self.text)
            except OSError:
                pass
            if self.close:
                sock.close()
            else:
                self.kept.append(sock)

    def __enter__(self):
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        for sock in self.kept:
            sock.close()


@pytest.mark.parametrize("text", [b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\nhello",
                                  b"SSH-2.0-OpenSSH_9.2\r\n", b"\x15\x03\x03\x00\x02\x02\x46", b"", b"\0" * 64])
def test_what_speaks_no_grpc(place, text):
    with Talker(text) as talker:
        done = capture(place, *quick(talker.target), "--format", "json")
        (target,) = events(done)[-1]["targets"]
        assert target["code"] == "no_service" and "not a gRPC server" in target["error"], target
        assert done.returncode == 6 and left(place) == [] and done.stderr.count("\n") == 1


def test_who_listens_and_is_silent(place):
    with Talker(b"", close=False) as talker:
        fails(place, *quick(talker.target), "--patience", "300ms", says="timed out: no response within")


def test_nothing_listens(place):
    with socket.create_server(("127.0.0.1", 0)) as free:
        target = "127.0.0.1:%d" % free.getsockname()[1]
    fails(place, *quick(target), says="Connection refused")
    fails(place, *quick("no-such-host.invalid:9012"), says="host not found")


def test_no_proxy_is_asked(place):
    env = {k: "http://127.0.0.1:1" for k in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")}
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        assert capture(place, *quick(server.target), "--format", "json", env=env).returncode == 0


# ---- What goes wrong here ----

def test_the_disk_is_full_while_it_comes(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE + plane("n" * 2000000)))) as server:
        said = fails(place, *quick(server.target), shell="ulimit -f 1000", says="cannot write the profile: File too large")
        assert said.startswith(f"view_profile: {server.target}: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIP: only root mounts")
def test_a_file_system_is_full_while_it_comes(place):
    small = place.dir / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("SKIP: nothing can be mounted here")
    try:
        with ProfilerServer(lambda call: call.answer(response(XSPACE + plane("n" * 2000000)))) as server:
            done = capture(place, *quick(server.target), "--out", small, "--format", "json")
            (target,) = events(done)[-1]["targets"]
            assert target["code"] == "disk" and "No space left on device" in target["error"]
            assert list(small.rglob("*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_directory_that_cannot_be_made(place):
    (place.dir / "file").write_text("x")
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        fails(place, *quick(server.target), "--out", "file", says="cannot create the directory")
        fails(place, *quick(server.target), "--out", "/proc/nothing", says="cannot create the directory")
        assert not server.calls


def test_no_directory_of_ours_is_left_and_none_of_yours_goes(place):
    with ProfilerServer(lambda call: call.only_trailers(13)) as server:
        fails(place, *quick(server.target), "--out", "new/logs")
        fails(place, *quick(server.target), "--out", place.dir / "new" / "logs")
        (place.dir / "old" / "plugins" / "profile" / "mine").mkdir(parents=True)
        fails(place, *quick(server.target), "--out", "old")
        fails(place, *quick(server.target), "--out", "old", "--name", "mine")


def test_hosts_from_standard_input(place):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as a, ProfilerServer(lambda call: call.answer(response(XSPACE))) as b:
        done = capture(place, *quick("--hosts-file"), "-", "--format", "json", input=f"{a.target}\n{b.target}\n")
        assert done.returncode == 0 and len(landed(place)) == 2


def test_a_hosts_file_that_is_not_there(place):
    fails(place, "--hosts-file", "none", exit_code=4)


def test_progress_on_a_terminal(place):
    def plan(call):
        call.wait(1)
        call.begin()
        text = response(XSPACE + plane("n" * 200000))
        call.data(text[:100000])
        call.wait(0.6)
        call.data(text[100000:])
        call.end()

    with ProfilerServer(plan) as server:
        done = subprocess.run(["script", "-qec", " ".join(command("--duration", "1s", server.target, "--out", "logs")), "/dev/null"],
                              cwd=place.dir, env=place.env, capture_output=True, text=True, timeout=WAIT)
        assert re.search(r"profiling, 0\.\d s left", done.stdout), done.stdout
        assert re.search(r"9\d\.\d KiB received", done.stdout)


# ---- --look, --kineto ----

def look(place, *targets):
    return capture(place, "--look", *targets)


def test_a_look_without_monitor(place):
    with ProfilerServer(None) as server:
        done = look(place, server.target)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 1
        assert done.stdout.startswith(f"{server.target}: a profiler answers and can capture")
        assert left(place) == []


def test_a_look_with_monitor(place):
    import struct
    figures = b"".join(bytes([n << 3 | 1]) + struct.pack("<d", v) for n, v in ((2, 12.5), (4, 3.25), (5, 3), (6, 4)))
    with ProfilerServer(None, monitor=lambda call: call.answer(frame(field(1, "words") + field(10, figures)))) as server:
        done = look(place, server.target)
        assert done.stdout == f"{server.target}: devices idle 12.5%, step 3.2 ms on average, 3.0 ms at least, 4.0 ms at most\n"
    with ProfilerServer(None, monitor=lambda call: call.answer(frame(field(1, "Timestamp: 1\nUtil: 5%\x1b[2J")))) as server:
        assert look(place, server.target).stdout == f"{server.target}: Timestamp: 1 Util: 5%\\x1b[2J\n"


def test_a_look_at_what_is_no_profiler(place):
    no = lambda call: call.only_trailers(12)  # noqa: E731
    with ProfilerServer(None, terminate=no) as server:
        assert "no profiler" in fails(place, "--look", server.target)


class Dynolog:
    """A stand-in for dynolog, of which no registry has a program: JSON behind an int32 of the machine's order, one question a
    connection (dynolog/src/rpc/SimpleJsonServer.cpp, get_message and send_response, at 185e38d). A question without "fn", or whose "fn"
    is unknown, is hung up on without an answer; one without "config" or "pids" gets {"status": "failed"}, and the answer has
    processesMatched and activityProfilersTriggered, lists of pids, and the numbers eventProfilersBusy and activityProfilersBusy
    (SimpleJsonServerInl.h, processOneImpl, at 29e39de); "getStatus" needs no more and gets {"status": NUMBER}. It hears one connection at
    a time, and waits for all of a message of whatever length: gRPC's first bytes are one of 541 MB. The lines of "config" are those of dynolog's own `dyno gputrace`
    (cli/src/commands/gputrace.rs at 00d9c47). Its processes write their files into the log's directory: libkineto puts _PID before
    .pt.trace.json (libkineto/src/Config.cpp), and newer ones only where the path begins with their allowed directory and has no
    ".." in it."""

    def __init__(self, reply=None, write=True):
        self.reply = {"processesMatched": [41, 42], "eventProfilersTriggered": [], "activityProfilersTriggered": [41, 42],
                      "eventProfilersBusy": 0, "activityProfilersBusy": 0} \
            if reply is None else reply
        self.write, self.heard = write, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self.listener.getsockname()[1]

    def run(self):
        sock, _ = self.listener.accept()
        with sock:
            n = int.from_bytes(fetching.exactly(sock, 4), sys.byteorder)
            while n > 1 << 20:
                if not sock.recv(1 << 16):
                    return self.run()
            self.heard.append(json.loads(fetching.exactly(sock, n)))
            if self.heard[0] == {"fn": "getStatus"}:
                sock.sendall((12).to_bytes(4, sys.byteorder) + b'{"status":1}')
                return
            if self.heard[0].get("fn") != "setKinetOnDemandRequest":
                return
            text = self.reply if isinstance(self.reply, bytes) else json.dumps(self.reply).encode()
            sock.sendall(len(text).to_bytes(4, sys.byteorder) + text)
        if self.write:
            log = dict(line.split("=", 1) for line in self.heard[0]["config"].split("\n"))["ACTIVITIES_LOG_FILE"]
            for pid in self.reply["activityProfilersTriggered"]:
                assert log.startswith("/") and ".." not in log
                name = log.replace(".pt.trace.json", f"_{pid}.pt.trace.json")
                with open(name, "w") as f:
                    f.write('{"schemaVersion": 1, "traceEvents": [\n')
                    f.flush()
                    time.sleep(0.3)
                    f.write('{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5, '
                            '"args": {"device": 0, "stream": 7}}]}\n')

    def __enter__(self):
        threading.Thread(target=self.run, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()


def test_kineto_is_driven_through_dynolog(place):
    with Dynolog() as dynolog:
        done = capture(place, "--kineto", *quick(dynolog.target), "--out", "logs", "--option", "PROFILE_WITH_STACK=true")
        assert done.returncode == 0, done.stderr
        (asked,) = dynolog.heard
        assert (asked["fn"], asked["pids"], asked["job_id"]) == ("setKinetOnDemandRequest", [0], 0)
        assert isinstance(asked["config"], str) and isinstance(asked["process_limit"], int)
        lines = asked["config"].split("\n")
        assert "ACTIVITIES_DURATION_MSECS=50" in lines and "PROFILE_WITH_STACK=true" in lines
        host = dynolog.target.replace(":", "_")
        files = sorted(p.name for p in (place.dir / "logs").rglob("*.json"))
        assert files == [f"{host}_41.pt.trace.json", f"{host}_42.pt.trace.json"]
        assert "gemm" in done.stdout and "page: view_profile serve --profile-dir logs, then" in done.stdout


def test_processes_are_told_a_plain_path(place):
    (place.dir / "a" / "b").mkdir(parents=True)
    with Dynolog() as dynolog:
        done = capture(place, "--kineto", *quick(dynolog.target), "--out", "a/b/../../logs")
        assert done.returncode == 0, done.stderr
        assert len(list((place.dir / "logs").rglob("*.json"))) == 2


def test_kineto_writes_over_no_file(place):
    run = place.dir / "plugins" / "profile" / "mine"
    run.mkdir(parents=True)
    with Dynolog() as dynolog:
        (run / (dynolog.target.replace(":", "_") + "_41.pt.trace.json")).write_bytes(b"old")
        fails(place, "--kineto", *quick(dynolog.target), "--name", "mine", says="already has this host")
        assert not dynolog.heard


def test_dynolog_is_known_without_the_option(place):
    with Dynolog() as dynolog:
        done = capture(place, *quick(dynolog.target), "--patience", "300ms", "--format", "json")
        (target,) = events(done)[-1]["targets"]
        assert target["code"] == "no_service" and "dynolog answers" in target["error"] and "--kineto" in target["error"], target
        assert done.returncode == 6 and left(place) == [] and dynolog.heard == [{"fn": "getStatus"}]


@pytest.mark.parametrize(("reply", "word"), [
    ({"processesMatched": [], "activityProfilersTriggered": [], "activityProfilersBusy": 0}, "empty"),
    ({"processesMatched": [4], "activityProfilersTriggered": [], "activityProfilersBusy": 1}, "busy"),
    ({"status": "failed"}, "no_service"), (b"[]", "no_service"), (b"\xff" * 9, "no_service")])
def test_what_dynolog_refuses(place, reply, word):
    with Dynolog(reply, write=False) as dynolog:
        done = capture(place, "--kineto", *quick(dynolog.target), "--format", "json")
        assert done.returncode == 6 and done.stderr.count("\n") == 1 and left(place) == []
        assert events(done)[-1]["targets"][0]["code"] == word


def test_processes_that_write_elsewhere(place):
    with Dynolog(write=False) as dynolog:
        said = fails(place, "--kineto", *quick(dynolog.target), "--patience", "500ms", says="check that the process can write to that directory")
        assert "process 41" in said


def test_who_is_no_dynolog(place):
    for text in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff\xff\xff\x7f", b"\0\0\0\0"):
        with Talker(text) as talker:
            done = capture(place, "--kineto", *quick(talker.target), "--format", "json")
            assert done.returncode == 6 and left(place) == []
            assert events(done)[-1]["targets"][0]["code"] in ("no_service", "failed")
    fails(place, "--kineto", *quick("127.0.0.1:1"), says="check that dynolog is running")


# ---- --out elsewhere ----

@pytest.fixture
def there():
    with shelf() as s:
        s.dirs.add("/logs/")
        yield s


def test_a_run_lies_elsewhere(place, there):
    url = there.url + "/logs/"
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        done = capture(place, *quick(server.target), "--out", url, "--name", "r", "--format", "json")
        assert done.returncode == 0, done.stderr
        name = f"/logs/plugins/profile/r/127.0.0.1_{server.port}.xplane.pb"
        assert there.files == {name: REAL.read_bytes()}
        assert events(done)[-1]["path"] == f"{url}plugins/profile/r"
        done = capture(place, *quick(server.target), "--out", url, "--top", 2)
        assert done.returncode == 0 and f"page: view_profile serve --profile-dir '{url}', then" in done.stdout
        assert left(place) == [] and list(place.temp.iterdir()) == []


def test_captures_of_one_second_are_runs_of_their_own_elsewhere(place, there):
    """Nobody can make a run there only if there is none: a job on each of many machines may write into one bucket."""
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        for _ in range(3):
            assert capture(place, *quick(server.target), "--out", there.url + "/logs").returncode == 0
        assert len({name.split("/")[4] for name in there.files}) == len(there.files) == 3
        assert all(re.fullmatch(r"\d{4}(_\d\d){5}_\d{6}", name.split("/")[4]) for name in there.files)


def test_an_address_with_a_query(place, there):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        done = capture(place, *quick(server.target), "--out", there.url + "/logs?key=7", "--name", "a run", "--format", "json")
        assert done.returncode == 0, done.stderr
        assert list(there.files) == [f"/logs/plugins/profile/a run/127.0.0.1_{server.port}.xplane.pb"]
        assert events(done)[-1]["path"] == there.url + "/logs/plugins/profile/a%20run"


def test_elsewhere_is_full(place, there):
    there.before = lambda r: (r.answer(507), True)[1] if r.command == "PUT" else False
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as server:
        fails(place, *quick(server.target), "--out", there.url + "/logs", says="507")
        assert there.files == {} and list(place.temp.iterdir()) == []
    fails(place, *quick(server.target), "--kineto", "--out", "s3://bucket/logs", exit_code=2)


def test_a_query_in_the_address_is_sent_and_not_told(place, there):
    asked = set()
    there.before = lambda r: (asked.add(r.path.partition("?")[2]), False)[1]
    url = there.url + "/logs?sig=s3cret"
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        said = [capture(place, *quick(server.target), "--out", url),
                capture(place, *quick(server.target), "--out", url, "--name", "r", "--format", "json"),
                capture(place, *quick(server.target), "--out", url, "--name", "r"),
                capture(place, *quick(server.target), "--out", url, "--kineto")]
        there.before = lambda r: (r.answer(403), True)[1]
        said.append(capture(place, *quick(server.target), "--out", url))
    assert [done.returncode for done in said] == [0, 0, 6, 2, 6] and asked == {"sig=s3cret"}
    for done in said:
        assert "s3cret" not in done.stdout + done.stderr and there.url in done.stdout + done.stderr


def test_a_password_in_the_address_is_sent_and_not_told(place, there):
    asked = set()
    there.before = lambda r: (asked.add(r.headers.get("Authorization")), False)[1]
    url = there.url.replace("://", "://bob:s3cret@") + "/logs"
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        said = [capture(place, *quick(server.target), "--out", url),
                capture(place, *quick(server.target), "--out", url, "--name", "r", "--format", "json"),
                capture(place, *quick(server.target), "--out", url, "--name", "r"),
                capture(place, *quick(server.target), "--out", url, "--kineto")]
        there.before = lambda r: (r.answer(403), True)[1]
        said.append(capture(place, *quick(server.target), "--out", url))
        assert [done.returncode for done in said] == [0, 0, 6, 2, 6] and asked == {"Basic Ym9iOnMzY3JldA=="}
        for done in said:
            assert "s3cret" not in done.stdout + done.stderr and there.url in done.stdout + done.stderr


# ---- Its page ----

def page_of(done):
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("page: ")]
    return line.removeprefix("page: ")


def test_the_page_is_that_of_the_server_that_runs(place):
    from serving import Serving
    (place.dir / "logs" / "a").mkdir(parents=True)
    (place.dir / "link").symlink_to(place.dir / "logs")
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        with Serving(place, "logs", "--port", "0") as running:
            run = page_of(capture(place, *quick(server.target), "--out", "link")).removeprefix(running.url + "session/")
            end = time.monotonic() + WAIT
            while running.get(f"/session/{run}")[0] != 200:
                assert time.monotonic() < end
                time.sleep(0.1)
            assert page_of(capture(place, *quick(server.target), "--out", "logs/", "--name", "with space")) == running.url
            assert page_of(capture(place, *quick(server.target), "--out", "logs/a")) == running.url
            assert page_of(capture(place, *quick(server.target), "--out", "logs2")) .startswith("view_profile serve --profile-dir logs2, ")
        assert page_of(capture(place, *quick(server.target), "--out", "logs")).startswith("view_profile serve --profile-dir logs, ")


def test_the_page_is_where_the_command_puts_it(place):
    from serving import Serving
    out = "it's mine"
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        said = page_of(capture(place, *quick(server.target), "--out", out))
    command, url = said.split(", then ")
    argv = shlex.split(command)
    assert argv[:3] == ["view_profile", "serve", "--profile-dir"]
    with Serving(place, *argv[2:]) as running:
        assert url.startswith(running.url), (url, running.url)
        assert running.get(url[len(running.url) - 1:])[0] == 200


def test_a_token_is_told_to_nobody(place):
    from serving import Serving
    (place.dir / "logs").mkdir()
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server, \
            Serving(place, "logs", "--port", "0", env={"VIEW_PROFILE_TOKEN": "t0psecret" * 4}) as running:
        done = capture(place, *quick(server.target), "--out", "logs")
        assert f":{running.port}/session/" in page_of(done) and "t0psecret" not in done.stdout + done.stderr


def test_a_bare_directory_is_served_and_gets_its_first_run(place):
    from serving import Serving
    (place.dir / "new").mkdir()
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server, \
            Serving(place, "new", "--port", "0") as running:
        assert "No profiles yet" in running.get("/")[2] and 'id="capture"' in running.get("/")[2]
        run = page_of(capture(place, *quick(server.target), "--out", "new")).removeprefix(running.url + "session/")
        end = time.monotonic() + WAIT
        while run.rstrip("/") not in running.get("/")[2]:
            assert time.monotonic() < end
            time.sleep(0.1)
    (place.dir / "bare").mkdir()
    for args in (["list", "bare"], ["top", "bare"], ["serve", "--list-only", "bare"]):
        assert subprocess.run(["view_profile", *args], cwd=place.dir, env=place.env, capture_output=True).returncode == 4
    (place.dir / "bare" / "notes.txt").write_text("no profile")
    done = subprocess.run(["view_profile", "serve", "--no-browser", "--port", "0", "bare"], cwd=place.dir, env=place.env,
                          capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 4 and "no profile found" in done.stderr


# ---- One name, two captures ----

def test_a_run_gets_more_hosts(place, there):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as a, \
            ProfilerServer(lambda call: call.answer(response(XSPACE))) as b:
        for out in ("here", there.url + "/logs"):
            for server in (a, b):
                assert capture(place, *quick(server.target), "--out", out, "--name", "r").returncode == 0
        assert {f.name for f in landed(place, "here")} == {f"127.0.0.1_{s.port}.xplane.pb" for s in (a, b)}
        assert len(there.files) == 2


def test_a_run_that_has_one_of_the_hosts_is_let_alone(place, there):
    with ProfilerServer(lambda call: call.answer(response(XSPACE))) as a, \
            ProfilerServer(lambda call: call.answer(response(XSPACE))) as b:
        for out in ("here", there.url + "/logs"):
            assert capture(place, *quick(a.target), "--out", out, "--name", "r").returncode == 0
            said = fails(place, *quick(f"{b.target},{a.target}"), "--out", out, "--name", "r",
                         says="already has this host, which is not overwritten; choose another --name")
            assert a.target.replace(":", "_") in said and not b.asked()
        assert [f.name for f in landed(place, "here")] == [f"127.0.0.1_{a.port}.xplane.pb"] and len(there.files) == 1


# ---- The process that fetches ----

def test_built_without_libcurl(place, program):
    alone = place.temp / "view_profile"
    alone.write_bytes(pathlib.Path(program).read_bytes())
    alone.chmod(0o755)
    done = subprocess.run([alone, "capture", "127.0.0.1:9012"], cwd=place.dir, env=place.env, capture_output=True, text=True)
    assert done.returncode == 6 and done.stdout == "" and done.stderr.count("\n") == 1
    assert "libcurl" in done.stderr and left(place) == []


def fetcher_of(child):
    """Its view_profile-fetch's pid."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = entry.read_text().split(" (", 1)
        except OSError:
            continue
        name, rest = rest.rsplit(") ", 1)
        if name.startswith("view_profile-fe") and int(rest.split()[1]) == child.pid:
            return int(pid)
    return None


def test_the_fetcher_dies_midway(place):
    half = threading.Event()

    def plan(call):
        call.begin()
        call.data(response(XSPACE)[:20])
        half.set()
        call.wait(WAIT)

    with ProfilerServer(plan) as server:
        child = subprocess.Popen(command(*quick(server.target)), cwd=place.dir, env=place.env, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        assert half.wait(WAIT)
        os.kill(fetcher_of(child), signal.SIGKILL)
        out, said = child.communicate(timeout=WAIT)
        assert (child.returncode, out) == (6, "") and said.count("\n") == 1 and "exited without an answer" in said
        assert left(place) == []


@pytest.mark.needs_release
def test_a_large_profile_is_never_held(place):
    not_emulated("memory is mostly the emulator's")
    plain = plain_program()
    stream = subprocess.Popen([sys.executable, ROOT / "tests" / "bench" / "profile_stream.py", "200"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        target = f"127.0.0.1:{stream.stdout.readline().strip()}"
        child = subprocess.Popen([plain, *command(*quick(target, ms=1), "--format", "json")[1:]], cwd=place.dir, env=place.env,
                                 stdout=subprocess.PIPE, text=True)
        most = {}
        while child.poll() is None:
            for pid in filter(None, [child.pid, fetcher_of(child)]):
                try:
                    status = pathlib.Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                if found := re.search(r"VmHWM:\s+(\d+) kB", status):
                    most[pid] = max(most.get(pid, 0), int(found[1]))
        assert child.returncode == 0 and landed(place)[0].stat().st_size > 199_000_000
        assert len(most) == 2 and max(most.values()) < 30_000, most
    finally:
        stream.communicate("")
