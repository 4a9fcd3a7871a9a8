"""Programs that are linked with the recorder and told from outside: steps of VP_STEP, a profiler of
their own behind the control socket, signals that they handle themselves."""
import gzip
import json
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from conftest import ROOT
from emulated import not_emulated
from recording import (WAIT, ask, compile_c, compile_linked, environment, names, recorder, runs, steps,
                       until)

HEAD = r"""#include <view_profile_capture.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
__attribute__((unused)) static void rest(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }
"""


@pytest.fixture
def build(program, place):
    """A program of this source, linked with the recorder that is built."""
    def make(source):
        return compile_linked(program, place.dir / "linked", HEAD + source)

    return make


def start(place, app, *args, **more):
    return subprocess.Popen([app, *args], cwd=place.dir, env=environment(place, **more),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def listening(place, p):
    runtime = place.env["XDG_RUNTIME_DIR"]
    until(lambda: (pathlib.Path(runtime) / "view_profile" / f"{p.pid}.sock").exists() or p.poll())
    assert p.poll() is None, p.communicate()
    return runtime


LOOP = r"""int main(void)
{
    for (unsigned i = 100; i < 110; i++) {
        VP_STEP("train", i);
        VP_SCOPE("forward");
        rest();
    }
    return 0;
}
"""


def test_steps_of_vp_step(place, build):
    app = build(LOOP)
    done = subprocess.run(["view_profile", "record", "--steps", "103:4", "--", app], cwd=place.dir,
                          env=environment(place), capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [103, 104, 105, 106]
    assert names(run) == {"train": 4, "forward": 4}


@pytest.mark.parametrize("schedule,wanted", [
    ("101:2:4:2", [[101, 102], [105, 106]]),
    ("101:1:3", [[101], [104], [107]]),
    ("103:2:2:2", [[103, 104], [105, 106]]),
    ("50:2:7:9", [[100, 101], [106, 107]]),  # past its first: at once, and then on its grid
])
def test_a_schedule_composes(place, build, schedule, wanted):
    app = build(LOOP)
    done = subprocess.run(["view_profile", "record", "--steps", schedule, "--", app], cwd=place.dir,
                          env=environment(place), capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr
    assert sorted(steps(run) for run in runs(place.dir / "profiles")) == wanted


def test_nothing_happens_unasked(place, build):
    p = start(place, build(LOOP))
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0 and out == err == ""
    assert not (place.dir / "profiles").exists()
    assert not (pathlib.Path(place.env["XDG_RUNTIME_DIR"]) / "view_profile").exists()


def test_its_own_recording_comes_first(place, build):
    """Both want to record: the second is told, and the program's own is whole."""
    app = build(r"""int main(void)
{
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = "own";
    int rc = vp_start(&r, &cfg);
    printf("%d\n", rc);
    return 0;
}
""")
    p = start(place, app, VIEW_PROFILE="1", VIEW_PROFILE_DIR="env")
    out, _ = p.communicate(timeout=WAIT)
    assert out == "-9\n"  # VP_EBUSY: the environment's is on
    assert len(runs(place.dir / "env")) == 1 and not runs(place.dir / "own")


PROFILER = r"""int main(void)
{
    vp_profiler *p;
    vp_schedule s = VP_SCHEDULE_INIT;
    s.enable_profiling = true;
    s.profiling_dir = "mine";
    s.start_step = -1;
    if (vp_profiler_new(&p, &s) < 0 || vp_control_start(p) < 0 || vp_control_start(p) < 0)
        return 1;
    for (unsigned i = 0; i < 1000000; i++) {
        vp_begin_step(p, i);
        VP_SCOPE("work");
        rest();
        vp_end_step(p, 10);
        if (access("enough", F_OK) == 0)
            break;
    }
    vp_control_stop();
    vp_profiler_free(p);
    return 0;
}
"""


def test_a_profiler_of_the_program(place, build):
    p = start(place, build(PROFILER))
    runtime = listening(place, p)
    before = until(lambda: (a := ask(runtime, p.pid, "STATUS"))["steps"] > 3 and a)
    assert before["state"] == "idle" and before["program"] == "linked"
    assert ask(runtime, p.pid, "CAPTURE steps=4")["ok"] is True
    until(lambda: ask(runtime, p.pid, "STATUS")["captures"] == 1)
    (place.dir / "enough").touch()
    _, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0, err
    (run,) = runs(place.dir / "mine")
    numbers = steps(run)
    assert len(numbers) == 4 and numbers == list(range(numbers[0], numbers[0] + 4))
    assert not list((pathlib.Path(runtime) / "view_profile").iterdir())


def asked(runtime, p, **is_so):
    """The first answer to STATUS of which this is so."""
    return until(lambda: (a := ask(runtime, p.pid, "STATUS")) and is_so.items() <= a.items() and a)


@pytest.fixture
def profiled(place, build):
    """PROFILER, which runs, and where its socket lies."""
    p = start(place, build(PROFILER))
    runtime = listening(place, p)
    until(lambda: ask(runtime, p.pid, "STATUS")["steps"] > 3)
    yield p, runtime
    (place.dir / "enough").touch()
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0 and out == err == ""


@pytest.mark.parametrize("line", ["CAPTURE", "CAPTURE steps=4", "CAPTURE ms=50", "CAPTURE steps=4 gpu=0"])
def test_a_capture_of_a_profiler_names_its_run(place, profiled, line):
    p, runtime = profiled
    answer = ask(runtime, p.pid, line)
    assert answer["ok"] is True and answer["last_error"] is None
    assert answer["last_run"] is None or answer["captures"] == 1
    s = asked(runtime, p, captures=1)
    (run,) = runs(place.dir / "mine")
    assert s["last_run"] == str(run.resolve()) and not runs(place.dir / "profiles")
    assert list(run.glob("*.xplane.pb"))  # what is counted is written
    assert names(run)["work"] >= 3
    # the next one is the last one then, whoever counts its end
    ask(runtime, p.pid, "CAPTURE steps=2" if "ms" in line else "CAPTURE ms=10")
    s = asked(runtime, p, captures=2)
    (second,) = set(runs(place.dir / "mine")) - {run}
    assert s["last_run"] == str(second.resolve())


def test_a_profiler_is_asked_for_the_gpu(place, profiled):
    """There is no CUPTI here: the rest is recorded, and it is said why there is nothing of the GPU."""
    p, runtime = profiled
    assert ask(runtime, p.pid, "CAPTURE steps=3 gpu=1")["ok"] is True
    s = asked(runtime, p, captures=1)
    assert s["last_error"].startswith("without the GPU: ")
    ask(runtime, p.pid, "CAPTURE steps=3")
    assert asked(runtime, p, captures=2)["last_error"] is None


def test_the_manual_has_every_key_and_word(profiled):
    p, runtime = profiled
    manual = (ROOT / "docs" / "control.md").read_text()
    keys = {k for row in re.findall(r"^\| (`.*?) \|", manual.split("## Answers")[1], re.M) for k in re.findall(r"`(\w+)`", row)}
    refused = ask(runtime, p.pid, "NONSENSE")
    assert keys == set(refused) | set(ask(runtime, p.pid, "STATUS"))
    words = set(re.findall(r"^\| `([A-Z]+)", manual, re.M))
    assert words == set(re.findall(r"[A-Z]{2,}", refused["error"].split(":", 1)[1]))
    assert "docs/control.md" in (ROOT / "README.md").read_text()
    for line in ("PAST seconds=86400", "STOP"):
        assert ask(runtime, p.pid, line)["code"] == "not active"
    assert ask(runtime, p.pid, "CAPTURE ms=3600001")["code"] == "bad argument"


SLOW_STEPS = PROFILER.replace("rest();", "for (int k = 0; k < (i > 5 ? 2000 : 1) && access(\"enough\", F_OK); k++) rest();")


def test_a_profiler_waits_for_its_next_step(place, build):
    p = start(place, build(SLOW_STEPS))
    runtime = listening(place, p)
    asked(runtime, p, steps=7)
    assert ask(runtime, p.pid, "CAPTURE steps=4")["state"] == "armed"
    assert ask(runtime, p.pid, "STATUS")["state"] == "armed"
    again = ask(runtime, p.pid, "CAPTURE")
    assert again["ok"] is False and again["code"] == "in use" and "already been requested" in again["error"]
    assert ask(runtime, p.pid, "STOP")["state"] == "idle"  # it is forgotten
    assert ask(runtime, p.pid, "STATUS")["state"] == "idle"
    (place.dir / "enough").touch()
    assert p.communicate(timeout=WAIT) == ("", "")
    assert p.returncode == 0 and not runs(place.dir / "mine")


def test_a_profiler_whose_capture_cannot_start_says_so(place, profiled):
    p, runtime = profiled
    (place.dir / "mine").write_text("a file")
    assert ask(runtime, p.pid, "CAPTURE steps=2")["ok"] is True
    s = until(lambda: (a := ask(runtime, p.pid, "STATUS"))["last_error"] and a)
    assert s["state"] == "idle" and s["captures"] == 0 and "cannot create the directory" in s["last_error"]
    assert s["last_error_path"].startswith(str(place.dir)) or s["last_error_path"].startswith("mine")
    answer = ask(runtime, p.pid, "CAPTURE ms=10")
    assert answer["ok"] is False and "cannot create the directory" in answer["error"]


BUSY = r"""int main(void)
{
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = "own";
    if (vp_control_start(NULL) < 0 || vp_start(&r, &cfg) < 0)
        return 1;
    for (unsigned i = 0; access("enough", F_OK) != 0; i++) {
        if (r && access("stop", F_OK) == 0) {
            vp_stop(r, NULL);
            r = NULL;
        }
        VP_STEP("train", i);
        rest();
    }
    return 0;
}
"""


@pytest.mark.parametrize("line", ["CAPTURE", "CAPTURE steps=3", "CAPTURE ms=50"])
@pytest.mark.parametrize("source", ["BUSY", "PROFILER"])
def test_a_recording_of_the_program_is_in_the_way(place, build, source, line):
    """Whoever asks is told at once, and the program's user is not: it was not he who asked."""
    text = BUSY if source == "BUSY" else PROFILER.replace(
        "for (", "vp_recording *r;\nif (vp_trace(&r, \"own\") < 0) return 2;\nfor (", 1)
    p = start(place, build(text))
    runtime = listening(place, p)
    until(lambda: ask(runtime, p.pid, "STATUS")["steps"] > 3)
    answer = ask(runtime, p.pid, line)
    assert (answer["ok"], answer["code"], answer["error"]) == (False, "in use", "Profiler already active")
    assert answer["state"] == "recording"
    if source == "BUSY":
        (place.dir / "stop").touch()
        asked(runtime, p, state="idle")
        assert ask(runtime, p.pid, line)["ok"] is True
        asked(runtime, p, captures=1)
    (place.dir / "enough").touch()
    assert p.communicate(timeout=WAIT) == ("", "")


def test_what_goes_wrong_is_told_to_who_asked(place, build):
    """Nothing prints unless the environment asks: the answer and STATUS say it."""
    p = start(place, build(BUSY))
    runtime = listening(place, p)
    asked(runtime, p, state="recording")  # the socket is there before
    (place.dir / "stop").touch()
    asked(runtime, p, state="idle")
    answer = ask(runtime, p.pid, "CAPTURE ms=10 gpu=1")
    assert answer["ok"] is True, answer  # there is no CUPTI here
    assert asked(runtime, p, captures=1)["last_error"].startswith("without the GPU: ")
    (place.dir / "profiles").rename(place.dir / "elsewhere")
    (place.dir / "profiles").write_text("a file")
    answer = ask(runtime, p.pid, "CAPTURE ms=10")
    assert answer["ok"] is False and "cannot create the directory" in answer["error"]
    assert ask(runtime, p.pid, "CAPTURE steps=2")["ok"] is True
    s = until(lambda: (a := ask(runtime, p.pid, "STATUS"))["last_error"] and a)
    assert s["state"] == "idle" and "cannot create the directory" in s["last_error"]
    assert s["last_error_path"].startswith(str(place.dir / "profiles"))
    (place.dir / "profiles").unlink()
    assert ask(runtime, p.pid, "CAPTURE steps=2")["last_error"] is None
    asked(runtime, p, captures=2)
    (place.dir / "enough").touch()
    assert p.communicate(timeout=WAIT) == ("", "")


OTHERWISE = r"""int main(int argc, char **argv)
{
    vp_profiler *p;
    vp_schedule s = VP_SCHEDULE_INIT;
    s.start_step = -1;
    s.profiling_dir = "own";
    if (argc != 2 || vp_profiler_new(&p, &s) < 0 || vp_control_start(p) < 0)
        return 1;
    while (strcmp(argv[1], "later") == 0 && access("begin", F_OK) != 0)
        rest();
    for (unsigned i = 0; access("enough", F_OK) != 0; i++) {
        if (strcmp(argv[1], "VP_STEP") == 0 || strcmp(argv[1], "later") == 0) {
            VP_STEP("train", i);
            rest();
        } else if (strcmp(argv[1], "contexts") == 0) {
            VP_CONTEXT(p, i, "work");
            rest();
        } else {
            rest();
        }
    }
    vp_control_stop();
    vp_profiler_free(p);
    return 0;
}
"""


@pytest.mark.parametrize("kind,line", [("VP_STEP", "CAPTURE"), ("VP_STEP", "CAPTURE steps=3"), ("contexts", "CAPTURE"),
                                       ("nothing", "CAPTURE steps=3")])
def test_a_profiler_whose_program_steps_otherwise(place, build, kind, line):
    """What is asked for happens, by steps where there are some, else for three seconds; and then the next."""
    p = start(place, build(OTHERWISE), kind)
    runtime = listening(place, p)
    if kind == "VP_STEP":
        until(lambda: ask(runtime, p.pid, "STATUS")["steps"] > 3)
    for captures in [1, 2]:
        assert ask(runtime, p.pid, line)["ok"] is True
        until(lambda: ask(runtime, p.pid, "STATUS")["captures"] == captures)
    assert ask(runtime, p.pid, "STATUS")["state"] == "idle"
    (place.dir / "enough").touch()
    assert p.communicate(timeout=WAIT) == ("", "")
    written = runs(place.dir / "own")
    assert len(written) == 2
    if kind == "VP_STEP":
        assert [len(steps(run)) for run in written] == [3 if "steps" in line else 5] * 2
    if kind == "contexts":
        assert names(written[0])["work"] > 10


def test_a_capture_that_waits_for_the_first_step(place, build):
    p = start(place, build(OTHERWISE), "later")
    runtime = listening(place, p)
    assert ask(runtime, p.pid, "CAPTURE steps=3")["state"] == "armed"
    (place.dir / "begin").touch()
    until(lambda: ask(runtime, p.pid, "STATUS")["captures"] == 1)
    (place.dir / "enough").touch()
    assert p.communicate(timeout=WAIT) == ("", "")
    (run,) = runs(place.dir / "own")
    assert len(steps(run)) == 3


RING = r"""int main(void)
{
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = "own";
    cfg.mode = VP_RING;
    if (vp_control_start(NULL) < 0 || vp_start(&r, &cfg) < 0)
        return 1;
    while (access("enough", F_OK) != 0) {
        VP_SCOPE("work");
        rest();
    }
    return 0;
}
"""


def test_a_past_of_less_than_a_second(place, build):
    p = start(place, build(RING))
    runtime = listening(place, p)
    until(lambda: ask(runtime, p.pid, "STATUS")["zones"] > 700)
    answer = ask(runtime, p.pid, "PAST seconds=0.25")
    assert answer["ok"] is True
    run = pathlib.Path(answer["last_run"])
    for bad in ["0.", ".5", "1e1", "0,5", "+1", "-0.5", "0.1234567891", "86400.1", "nan", "0x1", "", "1.2.3", " 1"]:
        refused = ask(runtime, p.pid, f"PAST seconds={bad}")
        assert refused["ok"] is False and refused["code"] == "bad argument", bad
    assert ask(runtime, p.pid, "PAST seconds=86400.000000000")["ok"] is True
    assert 1 <= names(run)["work"] <= 250  # each rests for a ms at least
    (place.dir / "enough").touch()
    p.communicate(timeout=WAIT)


ROUND = r"""static long long began[300000];
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void say(void *ctx, int level, const char *text)
{
    (void)ctx;
    printf("%d %s\n", level, text);
}
int main(void)
{
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = "own";
    cfg.mode = VP_RING;
    cfg.pool_bytes = 1 << 20;
    cfg.log = say;
    cfg.export_now = true;
    if (vp_start(&r, &cfg) < 0)
        return 1;
    for (int i = 0; i < 300000; i++) {
        began[i] = now();
        VP_SCOPE_ARGS("busy", VP_I64("i", i));
    }
    long long last = now();
    vp_stop(r, &result);
    printf("%llu %llu %lld %lld\n", (unsigned long long)result.zones, (unsigned long long)result.overwritten,
           (long long)result.duration_ns, last - began[result.overwritten]);
    return 0;
}
"""


def test_a_ring_that_went_round_says_so_everywhere(program, place, build):
    """The window is that of the zones that the ring kept, by the clock of the program itself. A busy machine may pause the
    program before it stops the recording: then it runs again."""
    app = build(ROUND)
    for _ in range(20):
        shutil.rmtree(place.dir / "own", ignore_errors=True)
        out, err = start(place, app).communicate(timeout=WAIT)
        log, saved, figures = out.splitlines()
        zones, overwritten, ns, own_ns = map(int, figures.split())
        if ns < 5 * own_ns:  # with a hole in the ring it was a hundred times as long
            break
    assert ns < 5 * own_ns
    assert zones + overwritten == 300000 and 0 < zones < 65536 and err == ""
    assert log.startswith(f"0 {overwritten} earlier zones overwritten; the last ") and "Trace saved to" in saved
    (run,) = runs(place.dir / "own")
    (trace,) = run.glob("*.trace.json.gz")
    trace = json.loads(gzip.decompress(trace.read_bytes()))
    (warning,) = trace["otherData"]["warnings"]
    assert warning.startswith("the ring holds the last ") and f"{overwritten} earlier zones" in warning
    kept = sorted((e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"] == "busy"), key=lambda e: e["ts"])
    assert [int(e["args"]["i"]) for e in kept] == list(range(overwritten, 300000))
    assert (kept[-1]["ts"] + kept[-1]["dur"] - kept[0]["ts"]) * 1000 - 1 <= ns
    report = json.loads(subprocess.run([program, "report", "--format=json", run], check=True,
                                       capture_output=True, text=True).stdout)
    (ring,) = [q for q in report["quality"] if q["code"] == "ring"]
    assert ring["message"] == warning and ring["severity"] == "info"
    (busy,) = [o for o in report["host_ops"] if o["name"] == "busy"]
    assert busy["calls"] == zones and busy["total_ps"] == pytest.approx(sum(e["dur"] for e in kept) * 1e6, rel=1e-6)
    text = subprocess.run([program, "report", run], check=True, capture_output=True, text=True).stdout
    assert abs(float(re.search(r"capture (\d+\.\d+) ms", text)[1]) - ns / 1e6) < 0.002


FILLED = ROUND.replace("    cfg.mode = VP_RING;\n", "").replace("    vp_stop(r,", "    usleep(60000);\n    vp_stop(r,")


def test_a_full_pool_says_what_is_missing_and_what_to_do(program, place, build):
    out, err = start(place, build(FILLED)).communicate(timeout=WAIT)
    at_once, log, saved, figures = out.splitlines()
    assert re.match(r"1 Buffer full \(1.0 MiB after \d+\.\d{6} s\); recording stopped. Use --ring 64M \(VP_RING\) to keep the "
                    r"newest events, or a larger buffer$", at_once)
    assert err == "" and "Trace saved to" in saved and int(figures.split()[0]) < 65536
    assert re.match(r"1 Buffer full after \d+\.\d{6} s; recording stopped, (\d+\.\d{3}) s are missing\. Use --ring", log)
    (run,) = runs(place.dir / "own")
    (trace,) = run.glob("*.trace.json.gz")
    report = json.loads(subprocess.run([program, "report", "--format=json", run], check=True,
                                       capture_output=True, text=True).stdout)
    told = [q["message"] for q in report["quality"] if q["code"] == "dropped-events"]
    warnings = json.loads(gzip.decompress(trace.read_bytes()))["otherData"]["warnings"]
    (full,) = [w for w in warnings if "because its buffer was full" in w]
    assert full in told and "--ring" in full and "larger buffer" in full
    assert float(re.search(r"the last (\d+\.\d+) s are missing", full)[1]) >= 0.06


LONG = r"""int main(void)
{
    for (int i = 0; i < 4300000; i++) {
        VP_SCOPE("busy");
    }
    usleep(300000);
    puts("goes on");
}
"""


@pytest.mark.slow
def test_record_says_at_once_that_the_pool_is_full(program, place, build):
    not_emulated("to fill a pool of 64 MiB takes minutes")
    done = subprocess.run([program, "record", "--", build(LONG)], cwd=place.dir, env=environment(place),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WAIT)
    assert done.returncode == 0
    said = [line for line in done.stdout.splitlines() if "Buffer full (64.0 MiB after " in line]
    assert len(said) == 1 and "--ring" in said[0]
    assert done.stdout.index(said[0]) < done.stdout.index("are missing")


HANDLER = r"""static volatile sig_atomic_t own;
static void mine(int n) { own = n; }
int main(void)
{
    struct sigaction a = {.sa_handler = mine};
    sigaction(SIGUSR2, &a, NULL);
    int refused = vp_install_signal(SIGUSR2, false);
    int forced = vp_install_signal(SIGUSR2, true);
    int again = vp_install_signal(SIGUSR2, false);
    int none = vp_install_signal(SIGUSR1, false), nonsense = vp_install_signal(4711, false);
    printf("%d %d %d %d %d\n", refused, forced, again, none, nonsense);
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = "own";
    cfg.mode = VP_RING;
    if (vp_start(&r, &cfg) < 0)
        return 1;
    for (int i = 0; i < 100; i++) {
        VP_SCOPE("work");
        rest();
    }
    raise(SIGUSR2);
    for (int i = 0; i < 2000 && access("seen", F_OK) != 0; i++)
        rest();
    printf("%d\n", own == SIGUSR2);
    return vp_stop(r, NULL);
}
"""


def test_a_handler_of_the_program_is_called_too(place, build):
    p = start(place, build(HANDLER))
    until(lambda: len(runs(place.dir / "own")) == 2 and
          all(list(r.glob("*.xplane.pb")) or list(r.glob("*.vpcap")) for r in runs(place.dir / "own")))
    (place.dir / "seen").touch()
    out, err = p.communicate(timeout=WAIT)
    assert p.returncode == 0, err
    # VP_EREFUSED, and ours from then on; a number that is no signal: VP_EARG.
    assert out == "-8 0 0 0 -2\n1\n"
    assert [names(r)["work"] for r in runs(place.dir / "own")] == [100, 100]


def test_a_signal_without_anything_else(place, build):
    """No recording and no steps: 3 s of whatever it does."""
    app = build(r"""int main(void)
{
    if (vp_install_signal(SIGUSR2, false) < 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (access("enough", F_OK) != 0) {
        VP_SCOPE("work");
        rest();
    }
    return 0;
}
""")
    p = start(place, app)
    assert p.stdout.readline() == "ready\n"
    p.send_signal(signal.SIGUSR2)
    until(lambda: [r for r in runs(place.dir / "profiles") if list(r.glob("*.xplane.pb"))])
    (place.dir / "enough").touch()
    p.communicate(timeout=WAIT)
    assert p.returncode == 0
    assert names(runs(place.dir / "profiles")[0])["work"] > 100


CUT = r"""#include <stdlib.h>
int main(void)
{
    for (unsigned i = 7; i < 10; i++) {
        VP_STEP("train", i);
        VP_SCOPE("forward");
        rest();
        if (i == 9)
            exit(0);
    }
    return 0;
}
"""


def test_a_capture_that_exit_cuts_off_says_so_everywhere(place, build, program):
    """What was open is there and marked; the files, the report and its page say what became of it."""
    app = build(CUT)
    subprocess.run([app], cwd=place.dir, env=environment(place, VIEW_PROFILE="1"), check=True)
    (run,) = runs(place.dir / "profiles")
    (file,) = run.glob("*.trace.json.gz")
    trace = json.loads(gzip.decompress(file.read_bytes()))
    (warning,) = trace["otherData"]["warnings"]
    assert "was cut off" in warning and "2 zones had not ended" in warning
    unfinished = [(e["name"], e["args"].get("step_num")) for e in trace["traceEvents"]
                  if e.get("args", {}).get("unfinished")]
    assert unfinished == [("train", 9), ("forward", None)]

    def report(form):
        return subprocess.run([program, "report", "--format", form, "profiles"], cwd=place.dir,
                              capture_output=True, text=True, check=True).stdout

    told = json.loads(report("json"))
    assert [(s["number"], s["partial"]) for s in told["steps"]["list"]] == [
        (7, False), (8, False), (9, True)]
    (entry,) = [q for q in told["quality"] if q["code"] == "cut-off"]
    assert entry["message"] == warning and entry["severity"] == "warning"
    assert warning in report("html") and warning in " ".join(report("text").split())


def test_a_capture_that_ends_as_it_should_says_nothing(place, build, program):
    subprocess.run([build(LOOP)], cwd=place.dir, env=environment(place, VIEW_PROFILE="1"), check=True)
    out = subprocess.run([program, "report", "--format", "json", "profiles"], cwd=place.dir,
                         capture_output=True, text=True, check=True).stdout
    assert not [q for q in json.loads(out)["quality"] if q["code"] == "cut-off"]


FULL = r"""int main(void)
{
    for (unsigned i = 0; i < 6000000; i++) {
        VP_SCOPE("zone");
    }
    puts("done");
    fflush(stdout);
    getchar();
    return 0;
}
"""


@pytest.mark.slow
def test_a_full_pool_ends_a_recording_while_the_program_goes_on(place, build, program):
    """It is there for whoever asks, not only when the program ends."""
    p = subprocess.Popen([build(FULL)], cwd=place.dir, env=environment(place, VIEW_PROFILE="1"),
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    runtime = listening(place, p)
    assert p.stdout.readline() == "done\n"
    answer = until(lambda: (a := ask(runtime, p.pid, "STATUS"))["captures"] == 1 and a, 300)
    assert answer["state"] == "idle"
    (run,) = runs(place.dir / "profiles")
    assert list(run.glob("*.xplane.pb")) and not list(run.glob("*.vpcap"))
    assert ask(runtime, p.pid, "CAPTURE ms=50")["state"] == "recording"  # nothing is in its way
    p.communicate("\n")
    assert p.returncode == 0
    out = subprocess.run([program, "report", "--format", "json", str(run)], cwd=place.dir,
                         capture_output=True, text=True, check=True).stdout
    report = json.loads(out)
    codes = [q["code"] for q in report["quality"]]
    assert {"cut-off", "dropped-events", "lost-zones"} <= set(codes)
    (unreliable,) = [f for f in report["findings"] if f["id"] == "F23" and f["status"] == "fired"]
    assert "pool_bytes" in unreliable["suggestion"] and "jax" not in unreliable["suggestion"]


def test_calls_that_the_linker_wraps(program, place):
    """The recipe of VP_WRAP's description: neither the function nor who calls it is changed."""
    (place.dir / "fn.c").write_text("int fn(int x);\nint fn(int x) { return x + 1; }\n")
    (place.dir / "main.c").write_text(HEAD + r"""int fn(int x);
int __real_fn(int x);
int __wrap_fn(int x);
int __wrap_fn(int x) { return VP_CALL_N("fn", __real_fn(x)); }
int main(void)
{
    vp_recording *r;
    if (vp_trace(&r, "profiles") < 0)
        return 1;
    int n = 0;
    for (int i = 0; i < 7; i++)
        n = fn(n);
    return vp_stop(r, NULL) < 0 || vp_wait(r, NULL) < 0 || n != 7;
}
""")
    app = compile_c(program, place.dir / "wrapped", place.dir / "main.c", place.dir / "fn.c", "-Wl,--wrap=fn",
                    *recorder(program))
    p = start(place, app)
    p.communicate(timeout=WAIT)
    assert p.returncode == 0
    assert names(runs(place.dir / "profiles")[0]) == {"fn": 7}


def test_a_raw_recording_is_no_second_session(place, build):
    """What is kept beside the files is the same run to the viewer, and alone it says the same."""
    app = build(r"""int main(void)
{
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    cfg.outputs = VP_OUT_RAW;
    if (vp_start(&r, &cfg) < 0)
        return 1;
    for (unsigned i = 1; i < 6; i++) {
        VP_STEP("train", i);
        VP_SCOPE("forward");
        rest();
    }
    return vp_stop(r, NULL) < 0 || vp_wait(r, NULL) < 0;
}
""")
    p = start(place, app)
    p.communicate(timeout=WAIT)
    assert p.returncode == 0
    (run,) = runs(place.dir / "profiles")
    assert sorted(f.name.split(".", 1)[1] for f in run.iterdir()) == ["trace.json.gz", "vpcap", "xplane.pb"]

    def said(*args):
        return json.loads(subprocess.run(["view_profile", *args, "--format", "json", place.dir / "profiles"], check=True,
                                         cwd=place.dir, env=environment(place), capture_output=True, text=True).stdout)

    (listed,) = said("list")["sessions"]
    assert listed["status"] == "ok" and len(listed["hosts"]) == 1
    both = said("report")
    for other in ("*.xplane.pb", "*.trace.json.gz"):
        (file,) = run.glob(other)
        file.unlink()
    raw = said("report")
    assert raw["quality"] == both["quality"] == []
    for part in ("devices", "ops", "steps", "host_ops"):
        assert raw[part] == both[part]
    assert len(raw["steps"]["list"]) == 5
