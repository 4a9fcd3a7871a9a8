"""`view_profile record`, and what the environment, signals and the control socket do to programs that
never heard of us."""
import json
import pathlib
import signal
import stat
import subprocess

import pytest
from conftest import ROOT
from serving import Serving
from recording import (WAIT, ask, compile_c, environment, events, library, names, nvtx_headers, runs,
                       steps, until, zones)


@pytest.fixture(scope="session")
def app(program, tmp_path_factory):
    """examples/nvtx_app.c: steps of load batch, forward of 3 matmul, a mark. Built here where the
    build has found no headers."""
    built = pathlib.Path(program).parent / "examples" / "nvtx_app"
    if built.exists():
        return built
    out = tmp_path_factory.mktemp("app") / "nvtx_app"
    return compile_c(program, out, ROOT / "examples" / "nvtx_app.c", f"-I{nvtx_headers()}")


def record(place, *args, **more):
    return subprocess.run(["view_profile", "record", *map(str, args)], cwd=place.dir,
                          env=environment(place, **more), capture_output=True, text=True,
                          timeout=WAIT * 2)


def test_steps_of_a_program_that_never_heard_of_us(place, app):
    own = subprocess.run([app, "10"], capture_output=True, text=True, check=True).stdout
    done = record(place, "--steps", "2:3", "--", app, 10)
    assert done.returncode == 0, done.stderr
    assert done.stdout == own  # standard output is the program's
    (run,) = runs(place.dir / "profiles")
    assert f"recorded 1 run: {run}" in done.stderr and run.name in done.stderr.split("\n", 1)[1]
    assert names(run) == {"step": 3, "load batch": 3, "forward": 3, "matmul": 9, "batch done": 3,
                          "XlaCompile:jit_forward": 3}
    assert steps(run) == [2, 3, 4]


def test_as_the_manual_has_it(place, app):
    """`view_profile record --steps 2:3 -- examples/nvtx_app`, in the directory of the build."""
    linked = subprocess.run(["ldd", app], capture_output=True, text=True, check=True).stdout
    assert "view_profile" not in linked
    (place.dir / "examples").symlink_to(pathlib.Path(app).parent)
    done = record(place, "--steps", "2:3", "--", f"examples/{pathlib.Path(app).name}")
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [2, 3, 4] and names(run)["matmul"] == 9


def test_nesting_payload_and_domain(place, app):
    record(place, "--steps", "0:2", "--", app, 3)
    (run,) = runs(place.dir / "profiles")

    def within(a, b):
        return b["ts"] <= a["ts"] and a["ts"] + a["dur"] <= b["ts"] + b["dur"] + 0.001

    first = zones(run, "step")[0]
    forward = zones(run, "forward")[0]
    matmuls = zones(run, "matmul")
    assert within(forward, first) and all(within(m, forward) for m in matmuls[:3])
    assert within(zones(run, "load batch")[0], first)
    assert zones(run, "load batch")[0]["ts"] < zones(run, "XlaCompile:jit_forward")[0]["ts"] < forward["ts"]
    assert [m["args"]["payload"] for m in matmuls] == [0, 1, 2, 0, 1, 2]
    assert all("model" in json.dumps(m) for m in matmuls)
    assert all("model" not in json.dumps(f) for f in zones(run, "forward"))


def test_the_viewer_shows_its_steps_and_ranges(place, program, app):
    record(place, "--steps", "2:3", "--", app, 10)
    text = subprocess.run([program, "report", "--format", "json", "profiles"], cwd=place.dir,
                          capture_output=True, text=True, check=True).stdout
    report = json.loads(text)
    assert [s["number"] for s in report["steps"]["list"]] == [2, 3, 4]
    assert report["session"]["kind"] == "xla"
    text = subprocess.run([program, "top", "profiles"], cwd=place.dir, capture_output=True, text=True,
                          check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    # calls stand third, behind self time and two shares
    assert [r[3] for r in rows if r[-1:] == ["XlaCompile:jit_forward"]] == ["3"]
    assert [r[3] for r in rows if r[-2:] == ["model", "matmul"]] == ["9"]


def test_the_finding_that_it_plants(place, program, app):
    record(place, "--steps", "2:3", "--", app, 10)
    text = subprocess.run([program, "findings", "--format", "json", "profiles"], cwd=place.dir,
                          capture_output=True, text=True, check=True).stdout
    # its compiles come late; the first of them inside the first captured step; and they are its hot zone
    # (which of them costs most is the machine's affair)
    assert {f["id"] for f in json.loads(text)["findings"] if f["status"] == "fired"} == {"F10", "F11", "F27"}


def test_everything_without_steps(place, app):
    done = record(place, "--dir", "other/place", "--", app, 4)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "other" / "place")
    # The first range finds the recorder: it is recorded from there on, whole.
    assert names(run) == {"step": 4, "load batch": 4, "forward": 4, "matmul": 12, "batch done": 4,
                          "XlaCompile:jit_forward": 4}
    assert steps(run) == [0, 1, 2, 3]


def test_a_program_that_ends_in_the_middle_of_its_steps(place, app):
    done = record(place, "--steps", "2:100", "--", app, 5)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [2, 3, 4]


def test_training_that_resumes_beyond_the_first_step(place, program, tmp_path):
    """A checkpoint at step 500: capturing from step 150 begins at once."""
    source = tmp_path / "resumed.c"
    source.write_text("""#include <nvtx3/nvToolsExt.h>
    #include <stdio.h>
    int main(void) {
        for (int i = 500; i < 510; i++) {
            char name[32];
            snprintf(name, sizeof name, "train_step_%d", i);
            nvtxRangePushA(name);
            nvtxRangePop();
        }
    }""")
    app = compile_c(program, tmp_path / "resumed", source, f"-I{nvtx_headers()}")
    assert record(place, "--steps", "150:2", "--", app).returncode == 0
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [500, 501] and names(run) == {"train_step": 2}


SHAPES = r"""#include <nvtx3/nvToolsExt.h>
#include <wchar.h>
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>

static nvtxRangeId_t across;

static void *other(void *arg)
{
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "loader 1");
    nvtxRangePushA("read");
    nvtxRangePop();
    nvtxRangeEnd(across);
    nvtxRangeEnd(across);      /* a second time: nothing */
    nvtxRangeEnd(12345678);    /* one that never was */
    return arg;
}

int main(void)
{
    pthread_t t;
    nvtxDomainHandle_t d = nvtxDomainCreateW(L"d\u00f6main");
    nvtxEventAttributes_t e = {0};
    nvtxRangePushA("setup");
    nvtxRangePop();
    for (int i = 0; i < 4; i++) {
        nvtxRangePushA("epoch");
        nvtxRangePushW(L"w\u00efde \U0001F600");
        nvtxRangePop();
        e.version = NVTX_VERSION;
        e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        e.messageType = NVTX_MESSAGE_TYPE_ASCII;
        e.message.ascii = "typed";
        e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
        e.payload.dValue = 2.5;
        e.category = 7;
        nvtxNameCategoryA(7, "io");
        nvtxRangePushEx(&e);
        nvtxDomainRangePushEx(d, &e); /* pops of two domains may cross */
        nvtxRangePop();
        nvtxDomainRangePop(d);
        nvtxRangePop();
    }
    nvtxRangePop(); /* of nothing */
    nvtxRangePop();
    nvtxRangePushA(NULL);
    nvtxRangePop();
    nvtxRangePushEx(NULL);
    nvtxRangePop();
    across = nvtxRangeStartA("across threads");
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    nvtxRangePushA("never ends");
    return 0;
}
"""


@pytest.fixture(scope="session")
def shapes(program, tmp_path_factory):
    place = tmp_path_factory.mktemp("shapes")
    (place / "shapes.c").write_text(SHAPES)
    return compile_c(program, place / "shapes", place / "shapes.c", f"-I{nvtx_headers()}")


def test_every_kind_of_range(place, shapes):
    done = record(place, "--", shapes)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    n = names(run)
    assert n["epoch"] == 4 and n["setup"] == 1 and n["read"] == 1 and n["typed"] == 8
    assert n["w\u00efde \U0001F600"] == 4 and n["across threads"] == 1
    assert [z["args"]["payload"] for z in zones(run, "typed")] == [2.5] * 8
    assert "io" in json.dumps(zones(run, "typed")[0])
    assert "d\u00f6main" in json.dumps(zones(run, "typed"), ensure_ascii=False)
    threads = {e["tid"]: e["args"]["name"] for e in events(run)
               if e["ph"] == "M" and e["name"] == "thread_name"}
    assert threads[zones(run, "read")[0]["tid"]] == "loader 1"
    assert zones(run, "across threads")[0]["tid"] == zones(run, "read")[0]["tid"]
    # "setup" comes once, "epoch" again and again: its second one is step 1.
    assert steps(run) == [1, 2, 3]


def test_steps_without_numbers(place, shapes):
    assert record(place, "--steps", "2:1", "--", shapes).returncode == 0
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [2] and names(run)["epoch"] == 1


@pytest.mark.parametrize("command,code", [("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
def test_exit_codes_are_the_commands(place, command, code):
    assert record(place, "--", "sh", "-c", command).returncode == code


def test_a_command_that_is_not_there(place):
    done = record(place, "--", "/no/such/program")
    assert done.returncode == 127
    assert done.stderr == "view_profile: /no/such/program: No such file or directory\n"


def test_nothing_to_record(place):
    done = record(place, "--", "true")
    assert done.returncode == 6 and "nothing was recorded: true has no NVTX ranges" in done.stderr
    assert not (place.dir / "profiles").exists()


@pytest.mark.parametrize("where,what", [("/proc/no", "/proc/no"), ("file", "file"), ("file/a/b", "file")])
def test_a_directory_that_cannot_be_is_named_by_all(place, app, where, what):
    """Neither is the program said to have nothing to record: nobody has looked."""
    (place.dir / "file").write_text("")
    done = record(place, "--dir", where, "--", app, "3")
    assert done.returncode == 6
    path = what if what[0] == "/" else str(place.dir / what)
    started, nothing = [line for line in done.stderr.splitlines() if line.startswith("view_profile: ")]
    assert started.startswith(f"view_profile: the capture cannot start: {path}")
    assert nothing.startswith(f"view_profile: nothing was recorded: {path}")
    assert "cannot create the directory" in nothing or "cannot write to the directory" in nothing
    assert "NVTX ranges" not in done.stderr


def test_looking_for_why_leaves_nothing(place):
    done = record(place, "--dir", "a/b/c", "--", "true")
    assert done.returncode == 6 and "true has no NVTX ranges" in done.stderr
    assert not (place.dir / "a").exists()


def test_options_of_the_command_are_its_own(place):
    done = record(place, "printf", "%s ", "--steps", "x", "--", "--help", "-q")
    assert done.stdout == "--steps x -- --help -q "


@pytest.mark.parametrize("args", [["--steps", "x"], ["--steps", "1:0"], ["--ring", "7"], ["--nonsense"]])
def test_usage(place, args):
    done = record(place, *args, "--", "touch", "ran")
    assert done.returncode == 2 and done.stderr.startswith("view_profile: ")
    assert not (place.dir / "ran").exists()


def test_without_a_command(place):
    assert record(place).returncode == 2


def test_terminate_reaches_the_command(place, app):
    p = subprocess.Popen(["view_profile", "record", "--", app, "100000"], cwd=place.dir,
                         env=environment(place, COLUMNS="200"), stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    runtime = place.env["XDG_RUNTIME_DIR"]
    (found,) = until(lambda: list(pathlib.Path(runtime).glob("view_profile/*.sock")))
    until(lambda: ask(runtime, found.stem, "STATUS")["steps"] > 2)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=WAIT)
    assert p.returncode == 128 + signal.SIGTERM
    # It had no time to write; what it left is a run all the same.
    assert "recorded 1 run" in err and "a process was killed; its " in err


# ---- The environment alone ----------------------------------------------------------------------


def start(place, app, *args, **more):
    env = environment(place, NVTX_INJECTION64_PATH=str(library(place.program)), VIEW_PROFILE="1",
                      VIEW_PROFILE_DIR=str(place.dir / "profiles"), **more)
    return subprocess.Popen([app, *map(str, args)], cwd=place.dir, env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


@pytest.fixture
def spot(place, program):
    place.program = program
    place.runtime = place.env["XDG_RUNTIME_DIR"]
    return place


@pytest.fixture
def waiting(spot, app):
    """A program with many steps, of which none is asked for: it only listens."""
    p = start(spot, app, 1000000, VIEW_PROFILE_STEPS="4000000000:1")
    until(lambda: list((spot.dir.parent / "run").glob(f"view_profile/{p.pid}.sock")))
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["steps"] > 2)
    yield p
    p.kill()
    p.communicate()


def test_environment_is_enough(spot, app):
    p = start(spot, app, 6, VIEW_PROFILE_STEPS="1:2")
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0 and err == "" and out.startswith("c[1][1]")
    (run,) = runs(spot.dir / "profiles")
    assert steps(run) == [1, 2]


@pytest.mark.parametrize("value", ["0", ""])
def test_switched_off(spot, app, value):
    p = subprocess.run([app, "3"], cwd=spot.dir, capture_output=True, text=True, check=True,
                       env=environment(spot, NVTX_INJECTION64_PATH=str(library(spot.program)),
                                       VIEW_PROFILE=value))
    assert p.stderr == ""
    assert not (spot.dir / "profiles").exists()


def test_what_makes_no_sense_is_said_and_nothing_recorded(spot, app):
    p = start(spot, app, 3, VIEW_PROFILE_STEPS="soon")
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0 and out.startswith("c[1][1]")
    assert err == ("view_profile: VIEW_PROFILE_STEPS=soon: must be FIRST:COUNT, such as 150:5 for steps "
                   "150 to 154, or FIRST:COUNT:EVERY:TIMES, such as 150:5:1000:3 for these, 1150 to 1154 and 2150 "
                   "to 2154\n")
    assert not (spot.dir / "profiles").exists()


def test_a_directory_that_cannot_be_made_is_said(spot, app):
    (spot.dir / "profiles").write_text("a file")
    p = start(spot, app, 3)
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0 and out.startswith("c[1][1]")
    assert "the capture cannot start" in err and err.count("\n") == 1


# ---- The control socket -------------------------------------------------------------------------


def test_status(spot, waiting):
    s = ask(spot.runtime, waiting.pid, "STATUS")
    assert s["schema"] == "view_profile.control/1" and s["ok"] is True
    assert s["pid"] == waiting.pid and s["program"] == "nvtx_app" and s["state"] == "armed"
    assert s["captures"] == 0 and s["last_run"] is None


def test_a_list_of_nothing_names_the_program_that_could_record(spot, waiting):
    empty = spot.dir / "empty"
    empty.mkdir()
    done = subprocess.run(["view_profile", "list", str(empty)], cwd=spot.dir, env=environment(spot),
                          capture_output=True, text=True)
    assert done.returncode == 4 and "no profile found" in done.stderr
    assert f"live: process {waiting.pid}, nvtx_app" in done.stdout


def test_the_first_run_is_made_from_the_page(spot, waiting):
    """A directory without a run is served while a program could make one, and then shows that."""
    (spot.dir / "profiles").mkdir(exist_ok=True)
    assert ask(spot.runtime, waiting.pid, "STOP")["state"] == "idle"
    with Serving(spot, spot.dir / "profiles", "--port", "0", env=environment(spot)) as s:
        def sessions():
            return json.loads(s.get("/api/v1/sessions")[2])["sessions"]

        def written():
            return [made for made in sessions() if made["status"] != "unfinished"]

        assert sessions() == []
        (live,) = json.loads(s.get("/api/v1/live")[2])["live"]
        assert live["pid"] == waiting.pid
        assert s.post(f"/api/v1/live/{live['pid']}/capture", f"Origin: http://127.0.0.1:{s.port}")[0] == 202
        (made,) = until(written)
        assert made["status"] == "ok"


def test_the_socket_is_its_users_alone(spot, waiting):
    directory = spot.dir.parent / "run" / "view_profile"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / f"{waiting.pid}.sock").stat().st_mode) == 0o600


@pytest.fixture
def idle(spot, waiting):
    assert ask(spot.runtime, waiting.pid, "STOP")["state"] == "idle"
    return waiting


def test_capture_of_steps(spot, idle):
    assert ask(spot.runtime, idle.pid, "CAPTURE steps=3")["ok"] is True
    s = until(lambda: (a := ask(spot.runtime, idle.pid, "STATUS"))["captures"] == 1 and a)
    (run,) = runs(spot.dir / "profiles")
    assert s["last_run"] == str(run.resolve()) and s["state"] == "idle"
    numbers = steps(run)
    assert len(numbers) == 3 and numbers == list(range(numbers[0], numbers[0] + 3))


def test_capture_of_a_time(spot, idle):
    assert ask(spot.runtime, idle.pid, "CAPTURE ms=200")["state"] == "recording"
    busy = ask(spot.runtime, idle.pid, "CAPTURE ms=200")
    assert busy["ok"] is False and "already been requested" in busy["error"]
    until(lambda: ask(spot.runtime, idle.pid, "STATUS")["captures"] == 1)
    (run,) = runs(spot.dir / "profiles")
    first, last = zones(run)[0], zones(run)[-1]
    # us; a busy machine may leave the program little of its 200 ms, and us late
    assert 0 < last["ts"] + last["dur"] - first["ts"] < 3000e3


def test_capture_without_numbers_takes_five_steps(spot, idle):
    ask(spot.runtime, idle.pid, "CAPTURE")
    until(lambda: ask(spot.runtime, idle.pid, "STATUS")["captures"] == 1)
    assert len(steps(runs(spot.dir / "profiles")[0])) == 5


def test_stop_ends_what_records(spot, idle):
    ask(spot.runtime, idle.pid, "CAPTURE steps=1000000")
    until(lambda: ask(spot.runtime, idle.pid, "STATUS")["zones"] > 10)
    assert ask(spot.runtime, idle.pid, "STOP")["ok"] is True
    until(lambda: ask(spot.runtime, idle.pid, "STATUS")["captures"] == 1)
    assert len(steps(runs(spot.dir / "profiles")[0])) > 0


def test_past_of_a_ring(spot, app):
    p = start(spot, app, 1000000, VIEW_PROFILE_RING="1M")
    until(lambda: list((spot.dir.parent / "run").glob(f"view_profile/{p.pid}.sock")))
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["steps"] > 20)
    answer = ask(spot.runtime, p.pid, "PAST seconds=5")
    assert answer["ok"] is True and answer["state"] == "recording"  # it goes on
    past = answer["last_run"]
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["steps"] > 30)
    p.kill()
    p.communicate()
    (run,) = [r for r in runs(spot.dir / "profiles") if str(r.resolve()) == past]
    assert len(steps(run)) > 10


@pytest.mark.parametrize("line", ["", "HELLO", "CAPTURE steps", "CAPTURE steps=x", "CAPTURE steps=1 ms=1",
                                  "CAPTURE steps=99999999999", "CAPTURE color=1", "PAST seconds=-1",
                                  "CAPTURE gpu=7", "x" * 500])
def test_lines_that_make_no_sense(spot, idle, line):
    answer = ask(spot.runtime, idle.pid, line)
    assert answer["ok"] is False and answer["error"] and answer["code"]
    assert ask(spot.runtime, idle.pid, "STATUS")["state"] == "idle"


def test_past_of_nothing(spot, idle):
    answer = ask(spot.runtime, idle.pid, "PAST seconds=1")
    assert answer["ok"] is False and answer["code"] == "not active"


def test_the_socket_goes_with_the_program(spot, app):
    p = start(spot, app, 3)
    p.communicate(timeout=WAIT)
    assert list((spot.dir.parent / "run").glob("view_profile/*.sock")) == []


def test_what_a_killed_program_left_is_cleared_by_the_next(spot, app, idle):
    idle.kill()
    idle.wait()
    sockets = spot.dir.parent / "run" / "view_profile"
    assert [p.name for p in sockets.iterdir()] == [f"{idle.pid}.sock"]
    start(spot, app, 3).communicate(timeout=WAIT)
    assert list(sockets.iterdir()) == []


def test_children_of_a_program_whose_threads_open_ranges(spot, program, tmp_path):
    """As a data loader forks its workers: a lock that another thread holds at that moment must not come along."""
    source = tmp_path / "loader.c"
    source.write_text(r"""#include <nvtx3/nvToolsExt.h>
    #include <pthread.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static void *other(void *arg) {
        for (;;)
            nvtxRangeEnd(nvtxRangeStartA("other"));
        return arg;
    }
    int main(void) {
        pthread_t thread;
        nvtxRangePushA("step 0");
        pthread_create(&thread, NULL, other, NULL);
        for (int i = 0; i < 400; i++) {
            pid_t child = fork();
            if (!child) {
                alarm(20); /* by which one that hangs is told */
                nvtxRangeEnd(nvtxRangeStartA("worker"));
                nvtxDomainCreateA("of the worker");
                _exit(0);
            }
            int status;
            waitpid(child, &status, 0);
            if (status)
                _exit(1);
        }
        _exit(0);
    }""")
    app = compile_c(program, tmp_path / "loader", source, f"-I{nvtx_headers()}")
    p = start(spot, app)
    _, err = p.communicate(timeout=4 * WAIT)
    assert p.returncode == 0, err


def test_a_child_does_not_answer_for_its_parent(spot, program, tmp_path):
    source = tmp_path / "forks.c"
    source.write_text(r"""#include <nvtx3/nvToolsExt.h>
    #include <stdio.h>
    #include <unistd.h>
    #include <sys/wait.h>
    int main(void) {
        nvtxRangePushA("step 0");
        pid_t child = fork();
        if (!child) {
            for (int i = 1; i < 5; i++) {
                nvtxRangePushA("in the child");
                nvtxRangePop();
            }
            char path[256];
            snprintf(path, sizeof path, "%s/view_profile/%d.sock", getenv("XDG_RUNTIME_DIR"), getpid());
            _exit(access(path, F_OK) == 0);
        }
        int status;
        waitpid(child, &status, 0);
        nvtxRangePop();
        return status;
    }""".replace("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>"))
    app = compile_c(program, tmp_path / "forks", source, f"-I{nvtx_headers()}")
    p = start(spot, app)
    _, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0, err
    (run,) = runs(spot.dir / "profiles")
    assert names(run) == {"step": 1}


# ---- Signals, and who is shown ------------------------------------------------------------------


def test_a_signal_captures_the_next_steps(spot, app):
    p = start(spot, app, 1000000, VIEW_PROFILE_STEPS="4000000000:1", VIEW_PROFILE_SIGNAL="USR2")
    until(lambda: list((spot.dir.parent / "run").glob(f"view_profile/{p.pid}.sock")))
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["steps"] > 2)
    ask(spot.runtime, p.pid, "STOP")  # the steps that never come
    p.send_signal(signal.SIGUSR2)
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["captures"] == 1)
    p.kill()
    p.communicate()
    assert len(steps(runs(spot.dir / "profiles")[0])) == 5


def test_a_signal_writes_the_past_of_what_records(spot, app):
    p = start(spot, app, 1000000, VIEW_PROFILE_RING="1M", VIEW_PROFILE_SIGNAL="SIGUSR1")
    until(lambda: list((spot.dir.parent / "run").glob(f"view_profile/{p.pid}.sock")))
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["steps"] > 5)
    p.send_signal(signal.SIGUSR1)
    until(lambda: ask(spot.runtime, p.pid, "STATUS")["captures"] == 1)
    assert ask(spot.runtime, p.pid, "STATUS")["state"] == "recording"
    p.kill()
    p.communicate()


def test_list_shows_who_runs(spot, waiting):
    trace = spot.dir / "a.trace.json"
    trace.write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x"}]}')
    text = subprocess.run(["view_profile", "list", "."], cwd=spot.dir, env=environment(spot),
                          capture_output=True, text=True, check=True).stdout
    assert f"live: process {waiting.pid}, nvtx_app, armed, " in text
    text = subprocess.run(["view_profile", "list", "--format", "json", "."], cwd=spot.dir,
                          env=environment(spot), capture_output=True, text=True, check=True).stdout
    (live,) = json.loads(text)["live"]
    assert live["pid"] == waiting.pid and live["program"] == "nvtx_app" and live["state"] == "armed"


def test_list_of_nobody(spot):
    trace = spot.dir / "a.trace.json"
    trace.write_text('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"x"}]}')
    text = subprocess.run(["view_profile", "list", "--format", "json", "."], cwd=spot.dir,
                          env=environment(spot), capture_output=True, text=True, check=True).stdout
    assert json.loads(text)["live"] == []
