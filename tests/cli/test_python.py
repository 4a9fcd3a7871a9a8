"""The Python package: zones and their names, steps, schedules, and what view_profile says of profiles as objects. JAX and
PyTorch stand in tests/peers/test_python_front.py."""
import ast
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from emulated import not_emulated
from recording import ask, until

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from python_front import BUILD, PACKAGE, PYTHON, environment, run_python  # noqa: E402
from traces import trace  # noqa: E402

pytestmark = pytest.mark.skipif(not (PACKAGE / "view_profile").is_dir(), reason="SKIPPED: no headers of Python 3.10 or later")


def host_rows(directory):
    """name → (calls, args) of all zones below a profile directory, by the JSON half of the newest run."""
    import gzip
    runs = sorted(pathlib.Path(directory).glob("**/*.trace.json.gz"))
    rows = {}
    for event in json.loads(gzip.open(runs[-1]).read())["traceEvents"]:
        if event.get("ph") == "X":
            rows.setdefault(event["name"], []).append(event)
    return rows


def test_a_zone_is_in_the_profile_with_its_args(tmp_path):
    run_python("""
import sys, view_profile as vp
with vp.profile(sys.argv[1]) as p:
    with vp.annotate("outer"):
        for i in range(3):
            with vp.annotate("inner", batch=i, loss=0.5, shape="(2, 3)", big=1 << 70, other=[1]):
                pass
    vp.instant("mark", at=7)
    vp.counter("loss", 0.25)
    with vp.annotate("many", **{f"k{i}": i for i in range(20)}), vp.annotate("all", **{f"k{i}": i for i in range(15)}):
        pass
assert p.run.startswith(sys.argv[1] + "/plugins/profile/"), p.run
assert p.zones == 8, p.zones
""", tmp_path)
    rows = host_rows(tmp_path)
    many, every = rows["many"][0]["args"], rows["all"][0]["args"]  # 15 is what a record holds
    assert len(many) == len(every) == 15 and int(many["args left out"]) == 6 and int(every["k14"]) == 14
    assert len(rows["outer"]) == 1 and len(rows["inner"]) == 3
    args = rows["inner"][2]["args"]
    assert {k: str(args[k]) for k in ("batch", "loss", "shape", "big", "other")} == {
        "batch": "2", "loss": "0.5", "shape": "(2, 3)", "big": str(1 << 70), "other": "[1]"}
    outer, inner = rows["outer"][0], rows["inner"][0]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


def test_functions_coroutines_and_generators(tmp_path):
    """Each is what it was, and its parts are zones that do not run while another task does."""
    run_python("""
import asyncio, functools, inspect, sys, view_profile as vp
@vp.annotate("plain")
def plain(a, b=2):
    "doc"
    return a + b
@vp.annotate("gen")
def gen(n):
    got = yield 0
    for i in range(n):
        got = yield got
    return "end"
@vp.annotate("co")
async def co(x):
    await asyncio.sleep(0.001)
    return x
@vp.annotate("agen")
async def agen():
    try:
        for i in range(3):
            yield i
            await asyncio.sleep(0)
    finally:
        closed.append(1)
@vp.annotate("raises")
def raises():
    raise KeyError("mine")
closed = []
assert plain.__name__ == "plain" and plain.__doc__ == "doc" and inspect.signature(plain).parameters.keys() == {"a", "b"}
assert inspect.isgeneratorfunction(gen) and inspect.iscoroutinefunction(co) and inspect.isasyncgenfunction(agen)
async def main():
    assert await asyncio.gather(co(1), co(2)) == [1, 2]
    assert [i async for i in agen()] == [0, 1, 2]
    async for i in agen():
        break
with vp.profile(sys.argv[1]):
    assert plain(1) == 3
    g = gen(2)
    assert (next(g), g.send("a"), g.send("b")) == (0, "a", "b")
    try:
        g.send("c")
    except StopIteration as e:
        assert e.value == "end"
    asyncio.run(main())
    try:
        raises()
    except KeyError as e:
        assert e.args == ("mine",)
    vp.trace_function(functools.partial(max, 1))(2)
    vp.trace_function(len, "length")([])
    class Callable:
        def __call__(self):
            return 1
    assert vp.trace_function(Callable())() == 1
assert len(closed) == 2
""", tmp_path)
    rows = host_rows(tmp_path)
    assert {n: len(rows[n]) for n in ("plain", "gen", "co", "raises", "max", "length", "Callable")} == {
        "plain": 1, "gen": 4, "co": 4, "raises": 1, "max": 1, "length": 1, "Callable": 1}
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in rows["co"])
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))  # two tasks that wait at once


def test_what_is_no_name_is_refused_and_any_name_is_kept(tmp_path):
    run_python("""
import sys, view_profile as vp
for wrong in (lambda: vp.annotate(), lambda: vp.annotate(1), lambda: vp.annotate(b"x"), lambda: vp.annotate("a", "b"),
              lambda: vp.annotate("a")(3), lambda: vp.step(1, 2), lambda: vp.step("s", "2"), lambda: vp.step("s", 1.0)):
    try:
        wrong()
    except TypeError:
        continue
    raise SystemExit("taken")
try:
    class Own(vp.annotate):
        pass
except TypeError as e:
    assert "base type" in str(e)
else:
    raise SystemExit("taken as a base")
with vp.profile(sys.argv[1]):
    for name in ("x" * 150_000, "lone \\ud800", "nul \\0 in it", "", "名前", "#hash=1#"):
        with vp.annotate(name, **{"key \\ud800": "\\0"}):
            pass
    for i in range(5000):  # more names than are kept at hand
        with vp.annotate(f"name {i % 3000}"):
            pass
""", tmp_path)
    rows = host_rows(tmp_path)
    assert "x" * 4095 in rows and "lone \\ud800" in rows and "nul \\x00 in it" in rows and "名前" in rows
    assert sum(len(rows[f"name {i}"]) for i in range(3000)) == 5000


def test_threads_forks_and_reentry(tmp_path):
    run_python("""
import os, sys, threading, view_profile as vp
with vp.profile(sys.argv[1]) as p:
    def work():
        vp.thread_name("worker")
        for i in range(1000):
            with vp.annotate("thread"):
                pass
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    again = vp.annotate("again")
    with again:
        with again:
            pass
    pid = os.fork()
    if pid == 0:
        with vp.annotate("child"):
            pass
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
assert p.zones == 4002, p.zones
""", tmp_path)
    rows = host_rows(tmp_path)
    assert len(rows["thread"]) == 4000 and len(rows["again"]) == 2 and "child" not in rows


def test_a_forked_worker_records_for_itself(tmp_path):
    """What its parent records goes on without it, and it may record itself."""
    done = run_python("""
import multiprocessing, sys, view_profile as vp
def work(directory):
    with vp.annotate("not the parent's"):
        pass
    with vp.profile(directory) as own, vp.annotate("the child's"):
        pass
    assert own.zones == 1, own.zones
with vp.profile(sys.argv[1] + "/parent") as p, vp.annotate("around"):
    child = multiprocessing.get_context("fork").Process(target=work, args=(sys.argv[1] + "/child",))
    child.start()
    child.join()
    assert child.exitcode == 0
assert p.zones == 1, p.zones
""", tmp_path)
    assert done.stderr == "" and list(host_rows(tmp_path / "parent")) == ["around"] and list(host_rows(tmp_path / "child")) == ["the child's"]


def test_a_child_that_ends_leaves_its_parents_profile_alone(tmp_path):
    """By sys.exit in a context, and at exit in the capture of a schedule, which the child may then have itself."""
    done = run_python("""
import logging, os, sys, view_profile as vp
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
def child(work):
    pid = os.fork()
    if pid == 0:
        work()
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
with vp.profile(sys.argv[1] + "/context") as p:
    child(p.stop)
    child(lambda: None)
    with vp.annotate("parent's"):
        pass
assert p.zones == 1, p.zones
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1] + "/schedule", auto_enable_at_step=0, backend="native")
def two(name, first):
    for i in range(first, first + 2):
        p.begin_step(i)
        with vp.annotate(name):
            pass
        p.end_step()
def inherited():
    p.end_step()
    assert not p.is_profiling
    p.log_dir = sys.argv[1] + "/child"
    p.capture_async()
    two("child's", 7)
p.begin_step(0)
child(lambda: None)
child(inherited)
assert p.is_profiling
two("parent's", 0)
""", tmp_path)
    said = [line for line in done.stderr.splitlines() if "Trace saved to: " in line]  # where it is, not where it was written aside
    assert "parent process" not in done.stderr and len(said) == 3 and not any("/." in line.split(": ")[1] for line in said), done.stderr
    assert {n: [name for name in host_rows(tmp_path / n) if "'s" in name] for n in ("context", "schedule", "child")} == {
        "context": ["parent's"], "schedule": ["parent's"], "child": ["child's"]}


ENDS = """
import atexit, sys, threading, view_profile as vp
annotate, running = vp.annotate, threading.Event()
def at_exit():
    with annotate("at exit"):
        pass
def work():
    while True:
        with annotate("daemon", n=1), annotate("inner"):
            running.set()
class Late:
    def __del__(self, annotate=annotate, print=print):
        with annotate("late", at="the end"):
            print("ended", flush=True)
late = Late()
atexit.register(at_exit)
p = vp.profile(sys.argv[1]).start()
"""


@pytest.mark.parametrize("more, says", [("", "ended\n"), ("threading.Thread(target=work, daemon=True).start()\nrunning.wait()\n", "")])
def test_zones_while_the_interpreter_ends(tmp_path, more, says):
    """In exit handlers, in objects that end with their module, and in a thread that nobody waits for, which keeps such objects.
    A profile that nobody has stopped is written."""
    for n in range(3):
        done = run_python(ENDS + more, tmp_path)
        assert done.stderr == "" and done.stdout == says
        assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == n + 1 and len(list(tmp_path.iterdir())) == 1


def test_an_interpreter_within(tmp_path):
    """That shares the lock: its zones are of the same recording, also once it has ended."""
    run_python("""
import sys, view_profile as vp
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
shared = ["legacy"] if sys.version_info >= (3, 13) else []
program = "import view_profile as vp\\nwith vp.annotate('within', a=1): pass"
with vp.profile(sys.argv[1]) as p:
    for i in range(3):
        one = interpreters.create(*shared) if shared else interpreters.create(isolated=False)
        assert interpreters.run_string(one, program) is None
        interpreters.destroy(one)
        with vp.annotate("without"):
            pass
assert p.zones == 6, p.zones
""", tmp_path)
    assert {name: len(rows) for name, rows in host_rows(tmp_path).items()} == {"within": 3, "without": 3}


def test_interpreters_with_locks_of_their_own(tmp_path):
    """Python 3.12 and later: they run at the same time, begin and end meanwhile, and no zone is lost."""
    not_emulated("they are this machine's")
    seen = 0
    for python in sorted(pathlib.Path(os.path.expanduser("~/.pyenv/versions")).glob("3.1[2-9]*/bin/python")):
        run_python("""
import sys, threading, view_profile as vp
try:
    import _interpreters as interpreters
    isolated = ["isolated"]
except ImportError:
    import _xxsubinterpreters as interpreters
    isolated = []
program = '''
import view_profile as vp
for i in range(3000):
    with vp.annotate("within", i=i), vp.annotate(f"name {i % 50}"):
        pass
'''
def work():
    for i in range(2):
        one = interpreters.create(*isolated)
        assert interpreters.run_string(one, program) is None
        interpreters.destroy(one)
with vp.profile(sys.argv[1]) as p:
    threads = [threading.Thread(target=work) for i in range(3)]
    [t.start() for t in threads]
    for i in range(9000):
        with vp.annotate("without"):
            pass
    [t.join() for t in threads]
assert p.zones == 45000, p.zones
""", tmp_path / str(seen), python=python)
        rows = host_rows(tmp_path / str(seen))
        assert (len(rows["within"]), len(rows["without"]), len(rows["name 7"])) == (18000, 9000, 360)
        seen += 1
    if not seen:
        pytest.skip("SKIPPED: no Python of 3.12 or later here")


def test_a_job_is_listed_and_captured_by_its_socket(tmp_path):
    """What `list` and the button of the page use: two steps of a loop that runs, asked for from outside."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    program = """
import sys, time, view_profile as vp
vp.control()
print("ready", flush=True)
for i in range(100000):
    with vp.step("train", i), vp.annotate("forward"):
        time.sleep(0.002)
"""
    env = environment(XDG_RUNTIME_DIR=str(runtime), VIEW_PROFILE_DIR=str(tmp_path / "profiles"))
    with subprocess.Popen([PYTHON, "-c", program], env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as job:
        try:
            assert job.stdout.readline() == "ready\n"
            listed = subprocess.run([BUILD / "view_profile", "list"], env=env, cwd=tmp_path, capture_output=True, text=True)
            assert str(job.pid) in listed.stdout + listed.stderr, listed
            assert ask(runtime, job.pid, "CAPTURE steps=2")["ok"]
            status = until(lambda: (s := ask(runtime, job.pid, "STATUS"))["captures"] and s)
        finally:
            job.kill()
    rows = host_rows(status["last_run"])
    assert len(rows["forward"]) == len(rows["train"]) == 2


def test_control_c_in_a_capture(tmp_path):
    """It is the program's: what was recorded until then is written, by a context and by a schedule."""
    done = run_python("""
import signal, sys, view_profile as vp
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background has ignored
try:
    with vp.profile(sys.argv[1] + "/context"):
        with vp.annotate("interrupted"):
            signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("passed on", flush=True)
p = vp.Profiler(num_steps=5, log_dir=sys.argv[1] + "/schedule", auto_enable_at_step=0, backend="native")
p.begin_step(0)
with vp.annotate("interrupted"):
    signal.raise_signal(signal.SIGINT)
""", tmp_path, check=False)
    assert done.returncode == -signal.SIGINT and done.stdout == "passed on\n" and "\nKeyboardInterrupt\n" in done.stderr
    for how in ("context", "schedule"):
        assert len(host_rows(tmp_path / how)["interrupted"]) == 1


def test_two_schedules_at_once(tmp_path):
    """The second finds a capture on, says so, and has its own turn when it asks again."""
    done = run_python("""
import logging, sys, view_profile as vp
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
a, b = [vp.Profiler(num_steps=2, log_dir=f"{sys.argv[1]}/{n}", auto_enable_at_step=1, backend="native") for n in "ab"]
for i in range(8):
    if i == 5:
        b.capture_async()
    a.begin_step(i)
    b.begin_step(i)
    with vp.annotate(f"step {i}"):
        pass
    b.end_step()
    a.end_step()
""", tmp_path)
    assert done.stdout.count("the profiler could not start; training continues") == 1, done.stdout
    assert {n: [name for name in host_rows(tmp_path / n) if name.startswith("step ")] for n in "ab"} == {
        "a": ["step 1", "step 2"], "b": ["step 5", "step 6"]}


OLD_JAX = {
    "jax/__init__.py": "from jax import profiler\ndef effects_barrier(): pass\ndef live_arrays(): return []\nlocal_devices = live_arrays\ndef jit(f): return f\n",
    "jax/profiler.py": "from jax._src.profiler import *\n",
    "jax/_src/__init__.py": "",
    "jax/_src/profiler.py": '''
import os
class _profiler:
    class TraceMe: pass
def start_trace(directory): start_trace.directory = directory
def stop_trace():
    os.makedirs(start_trace.directory + "/plugins/profile/x")
    open(start_trace.directory + "/plugins/profile/x/vm.xplane.pb", "w").close()
''',
}


def install(texts, at):
    for name, text in texts.items():
        path = at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_jax_that_is_older_than_what_we_ask_of_it(tmp_path):
    """It has no options and tells of no zones: its profile is taken without both."""
    install(OLD_JAX, tmp_path / "lib")
    run_python("""
import jax, sys, view_profile as vp
with vp.profile(sys.argv[1], ("jax", "native")) as p, vp.annotate("ours"):
    pass
assert p.zones == 1 and len(vp.sessions(sys.argv[1])) == 1
""", tmp_path / "runs", PYTHONPATH=f"{PACKAGE}:{tmp_path}/lib")
    assert len(list(tmp_path.glob("runs/plugins/profile/*/*.xplane.pb"))) == 2 and "ours" in host_rows(tmp_path / "runs")


def test_what_begins_before_a_recording_is_none_of_it(tmp_path):
    run_python("""
import sys, view_profile as vp
with vp.annotate("before"):
    p = vp.profile(sys.argv[1]).start()
after = vp.annotate("after")
after.__enter__()
p.stop()
after.__exit__(None, None, None)
after.__exit__(None, None, None)
""", tmp_path)
    assert not {"before", "after"} & host_rows(tmp_path).keys()


def test_steps_are_steps(tmp_path, place):
    run_python("""
import sys, time, view_profile as vp
with vp.profile(sys.argv[1]):
    for i in range(7, 12):
        with vp.step("train", i), vp.annotate("forward"):
            time.sleep(0.002)
r = vp.report(sys.argv[1])
assert r.steps["count"] == 5 and [s["number"] for s in r.steps["list"]] == [7, 8, 9, 10, 11], r.steps
assert 0.002 <= r.step_seconds < 0.1
""", tmp_path)


def test_a_recording_that_is_on_is_not_disturbed(tmp_path):
    done = run_python("""
import sys, view_profile as vp
with vp.profile(sys.argv[1] + "/a") as a:
    try:
        vp.profile(sys.argv[1] + "/b").start()
    except vp.Error as e:
        print(e)
    assert a.active
    with vp.annotate("mine"):
        pass
assert a.zones == 1
try:
    vp.ProfileContext("/proc/none").start()
except OSError as e:
    print("refused", e)
try:
    with vp.profile(sys.argv[1] + "/c"):
        raise KeyError("the program's own")
except KeyError:
    pass
""", tmp_path)
    assert "Profiler already active" in done.stdout and "refused" in done.stdout
    assert not (tmp_path / "b" / "plugins").exists() and list(tmp_path.glob("c/plugins/profile/*/*.xplane.pb"))
    assert not list(tmp_path.glob("*/.view_profile*"))  # nothing is left aside


LOOP = """
import json, logging, sys, time, view_profile as vp
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1], auto_enable_at_step=int(sys.argv[2]), backend="native", model_params=1e9, peak_tflops=1)
for i in range(int(sys.argv[3]), int(sys.argv[4])):
    p.begin_step(i)
    with vp.annotate("work"):
        time.sleep(0.001)
    p.end_step(1000)
"""


@pytest.mark.parametrize("first, at, want", [(0, 3, [3, 4]), (9, 3, [9, 10]), (0, -1, [])])
def test_a_profiler_captures_the_steps_it_is_asked_for(tmp_path, first, at, want):
    """Also when training resumes beyond them; never for -1."""
    done = run_python(LOOP + "assert not p.is_profiling and p.avg_step_time >= 0.001\n", tmp_path, at, first, first + 8)
    runs = list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))
    if not want:
        assert not runs and not (tmp_path / "flop_stats.json").exists()
        return
    steps = [e for name, events in host_rows(tmp_path).items() for e in events if "step_num" in e.get("args", {})]
    assert sorted(int(e["args"]["step_num"]) for e in steps) == want and len(runs) == 1
    assert "Stopping profiler after 2 steps" in done.stdout and "Trace saved to: " in done.stdout
    stats = json.loads((tmp_path / "flop_stats.json").read_text())
    assert stats["profiling_steps"] == 1 and stats["total_tokens"] == 1000 and stats["flops_per_token"] == 6e9
    assert stats["cold_steps"] == 1 and stats["cold_step_time"] >= 0.001 and stats["truncated"] is False  # the first is in no rate
    assert stats["achieved_tflops"] == pytest.approx(1000 / stats["total_time_sec"] * 6e9 / 1e12)
    assert stats["mfu_percent"] == pytest.approx(100 * stats["achieved_tflops"])
    assert stats.keys() == {"profiling_steps", "total_tokens", "total_time_sec", "tokens_per_sec", "model_params", "flops_per_token",
                            "achieved_tflops", "peak_tflops", "mfu_percent", "per_step_tokens", "per_step_times", "cold_steps",
                            "cold_step_time", "truncated"}


def test_captures_are_asked_for_from_any_thread_and_end_at_exit(tmp_path):
    done = run_python(LOOP + """
import threading
t = threading.Thread(target=p.capture_async, args=(5,)); t.start(); t.join()
p.begin_step(100); p.end_step(1)
assert p.is_profiling and p.capture_async() is False
""", tmp_path, -1, 0, 3)
    assert "Profiler enabled for next 5 steps" in done.stdout
    assert "Profiler already active, ignoring capture_async()" in done.stdout
    assert "Profiler still active on exit, stopping..." in done.stdout
    assert "Stopping profiler after 1 steps of 5, truncated" in done.stdout
    stats = json.loads((tmp_path / "flop_stats.json").read_text())
    assert stats["truncated"] is True and stats["cold_steps"] == 1 and stats["profiling_steps"] == 0 and stats["tokens_per_sec"] is None
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 1


def test_a_capture_that_fails_does_not_end_training(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run_python(LOOP + "print('trained to', i)\n", blocked / "below", 1, 0, 5)
    assert "the profiler could not start; training continues" in done.stdout and "trained to 4" in done.stdout


def test_the_past_of_a_slow_step(tmp_path):
    not_emulated("every step is slow")
    run_python("""
import sys, time, view_profile as vp
p = vp.Profiler(log_dir=sys.argv[1], slow_step_ratio=20, backend="native")
for i in range(30):
    p.begin_step(i)
    with vp.annotate("slow part" if i == 20 else "part"):
        time.sleep(0.6 if i == 20 else 0.01)  # what a busy machine adds to a step is not twenty times
    p.end_step()
p.close()
assert p.last_run
""", tmp_path)
    rows = host_rows(tmp_path)
    assert len(rows["slow part"]) == 1
    assert len(list(tmp_path.glob("**/*.xplane.pb"))) == 1  # the ring itself is no profile


def test_contexts_of_a_schedule(tmp_path):
    """XAX's: every N steps into a directory of its own, at most so many, the first step only when wanted, a context
    within another a zone of it; a number of the device is no step."""
    done = run_python("""
import logging, sys, view_profile as vp
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
class State:
    num_steps = 0
class Task(vp.ProfilerMixin):
    config = vp.ProfilerConfig(enable_profiling=True, profiling_dir=sys.argv[1], profile_every_n_steps=2, max_profile_count=2, backend="native")
t, state = Task(), State()
for state.num_steps in range(10):
    with t.profile_context(state, "train_step"):
        assert t.profile_fn(lambda: 5, state, "inner") == 5
try:
    state.num_steps = 2
    with vp.profile_context(state, "failing", vp.ProfilerConfig(True, sys.argv[1], 2, backend="native")):
        raise KeyError("mine")
except KeyError as e:
    print("raised", e)
class Device:
    def __int__(self): raise SystemExit("asked")
    __index__ = __bool__ = __int__
state.num_steps = Device()
with t.profile_context(state, "device"):
    pass
with vp.profile_context(4, "off"):
    pass
""", tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {"train_step_step_2", "train_step_step_4", "failing_step_2"}
    rows = host_rows(tmp_path / "train_step_step_4")
    assert len(rows["inner"]) == 1 and len(rows["train_step"]) == 1
    assert "Starting capture: train_step_step_2" in done.stdout and "raised 'mine'" in done.stdout
    assert "device is not profiled: state.num_steps must be an integer of the host" in done.stdout


def test_runs_of_one_second_are_two(tmp_path):
    run_python("""
import sys, view_profile as vp
for i in range(3):
    with vp.profile(sys.argv[1]):
        with vp.annotate(f"run {i}"):
            pass
assert len(vp.sessions(sys.argv[1])) == 3
""", tmp_path)
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 3


def test_profiles_as_objects():
    run_python("""
import sys, view_profile as vp
r = vp.top(sys.argv[1], n=3)
assert r.ops and all(isinstance(o.self_ps, int) for o in r.ops) and str(r.ops[0]).startswith(r.ops[0].name)
assert r.ops == sorted(r.ops, key=lambda o: -o.self_ps)
assert vp.report(sys.argv[1]).data["schema"] == "view_profile.report/1"
page = vp.report(sys.argv[1])._repr_html_()
assert page.startswith('<iframe sandbox=""') and "<script" not in page and "srcdoc=" in page
assert [s.name for s in vp.sessions(sys.argv[1])]
for call in (lambda: vp.report("/none"), lambda: vp.top(sys.argv[1], by="nothing"), lambda: vp.compare(sys.argv[1], "/none")):
    try:
        call()
    except vp.ReadError as e:
        assert str(e).startswith("view_profile: ") and e.code in (2, 4), (e, e.code)
    else:
        raise SystemExit("no error")
c = vp.compare(sys.argv[1], sys.argv[1], max_regression="5%")
assert not c.regressed and c.data["schema"].startswith("view_profile.")
assert vp.assert_no_regression(sys.argv[1], sys.argv[1]) is not None
""", trace("jax_cpu/mnist_train"))


def test_a_regression_is_an_assertion(tmp_path):
    not_emulated("steps of one length are not")
    run_python("""
import sys, time, view_profile as vp
def run(name, seconds):
    with vp.profile(f"{sys.argv[1]}/{name}") as p:
        for i in range(12):
            with vp.step("train", i), vp.annotate("forward"):
                time.sleep(seconds)
    return p.run
fast, slow = run("a", 0.004), run("b", 0.02)
vp.assert_no_regression(fast, slow)
try:
    vp.assert_no_regression(slow, fast)
except AssertionError as e:
    assert "is slower than" in str(e) and "forward" in str(e), e
else:
    raise SystemExit("let through")
""", tmp_path)


def test_the_latest_profile(tmp_path):
    done = run_python("""
import os, signal, sys, time, urllib.request, view_profile as vp
os.environ.pop("XAX_PROFILE_DIR", None)
for args in ((), (sys.argv[1] + "/none",), (sys.argv[1],)):
    try:
        vp.open_latest_profile(*args)
    except ValueError as e:
        print(e, flush=True)
with vp.profile(sys.argv[1]), vp.annotate("a"):
    pass
os.environ["XAX_PROFILE_DIR"] = sys.argv[1]
p = vp.open_latest_profile(block=False)
time.sleep(0.5)
assert p.poll() is None
p.send_signal(signal.SIGINT)
assert p.wait(20) == 0
""", tmp_path, HOME=str(tmp_path), BROWSER="/bin/true")
    assert done.stdout.splitlines()[:3] == ["No profile directory specified and XAX_PROFILE_DIR not set",
                                            f"Profile directory {tmp_path}/none does not exist", f"No profiles found in {tmp_path}"]


def test_the_import_loads_little(tmp_path):
    """What it costs is measured by scripts/bench python; that it stays small is that nothing else is imported."""
    done = run_python("""
import sys
before = set(sys.modules)
import view_profile
new = {m.split(".")[0] for m in set(sys.modules) - before}
print(sorted(new))
""")
    assert set(eval(done.stdout)) <= {"view_profile", "functools", "inspect", "collections", "keyword", "operator", "reprlib", "types", "enum",
                                      "ast", "_ast", "dis", "_opcode", "opcode", "importlib", "warnings", "linecache", "tokenize", "token", "re",
                                      "copyreg", "contextlib", "itertools", "weakref", "_weakrefset", "_collections", "_functools", "_operator",
                                      "_opcode_metadata", "_tokenize", "_sre", "_weakref"}


def test_one_file_serves_all_versions():
    """One file for all versions: what each Python of this machine from 3.10 on says."""
    not_emulated("they are this machine's")
    seen = 0
    for python in sorted(pathlib.Path(os.path.expanduser("~/.pyenv/versions")).glob("3.1*/bin/python")):
        done = run_python("import view_profile as vp\nwith vp.annotate('a', b=1): pass\nprint('fine')", python=python, check=False)
        assert done.stdout == "fine\n", (python, done.stderr)
        seen += 1
    if not seen:
        pytest.skip("SKIPPED: no other Python here")


def test_pytest_records_a_test(tmp_path):
    (tmp_path / "test_it.py").write_text("""
import view_profile as vp
def test_step(view_profile_run):
    with view_profile_run() as p:
        with vp.step("train", 0):
            pass
    assert p.run
""")
    path = f"{PACKAGE}:{pathlib.Path(pytest.__file__).parents[1]}"
    done = subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "view_profile.testing", "--view-profile-dir", tmp_path / "kept", tmp_path],
                          env=environment(PYTHONPATH=path), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("kept/test_step/plugins/profile/*/*.xplane.pb"))


def test_record_leaves_a_python_without_frameworks_alone(place, tmp_path):
    """The hook runs before any program: it may neither say nor change anything, and a sitecustomize that was
    there before is still imported."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import builtins; builtins.mine = 7\n")
    done = subprocess.run(["view_profile", "record", "--dir", tmp_path / "rec", "--", PYTHON, "-c",
                           "import sys; print(mine, 'json' in sys.modules, sys.argv)", "a"],
                          env=place.env | {"PYTHONPATH": str(other)}, capture_output=True, text=True)
    assert done.stdout == "7 False ['-c', 'a']\n"
    assert done.returncode == 6 and len(done.stderr.splitlines()) == 1


FAKE_JAX = {
    "jax/__init__.py": "from jax._src import xla_bridge\nfrom jax import profiler\ndef live_arrays(): return []\ndef local_devices(): return []\ndef jit(f): return f\ndef devices(): return xla_bridge.backends()\n",
    "jax/profiler.py": "from jax._src.profiler import *\n",
    "jax/_src/__init__.py": "",
    "jax/_src/xla_bridge.py": "def backends(): return ['cpu']\n",
    "jax/_src/profiler.py": '''
import os
on = None
class _profiler:
    class TraceMe:
        is_enabled = staticmethod(lambda: on is not None)
        def __init__(self, name, **kwargs): self.text = f"{name} {kwargs['step_num']}"
        def __enter__(self): on.append(self.text)
        def __exit__(self, *e): pass
class ProfileOptions: pass
class StepTraceAnnotation:
    def __init__(self, name, **kwargs): self.text = f"{name} {kwargs['step_num']}"
    def __enter__(self): (on is not None) and on.append(self.text); return self
    def __exit__(self, *e): pass
def start_trace(directory, profiler_options=None):
    global on
    if os.environ.get("FAKE_FAILS") or on is not None: raise RuntimeError("another profiler runs")
    on, start_trace.directory = [], directory
def stop_trace():
    global on
    run = os.path.join(start_trace.directory, "plugins", "profile", "x")
    os.makedirs(run)
    open(os.path.join(run, "vm.steps.txt"), "w").write(",".join(on)); on = None
''',
}


REFUSING = FAKE_JAX | {
    "jax/__init__.py": FAKE_JAX["jax/__init__.py"].replace("xla_bridge.backends()", "xla_bridge.get_backend()"),
    "jax/_src/xla_bridge.py": '''
def backends(): return ['cpu']
busy = []
def get_backend():
    if busy: raise RecursionError("Recursively calling (None, (), {})")
    busy.append(1)
    try: return backends()
    finally: busy.clear()
get_backend.cache_clear = busy.clear
''',
    "jax/_src/profiler.py": FAKE_JAX["jax/_src/profiler.py"].replace(
        "    global on\n    if os", "    global on\n    from jax._src import xla_bridge; xla_bridge.get_backend()\n    if os", 1)}


def test_a_jax_that_refuses_the_profiler_at_its_first_use(place, tmp_path):
    """As JAX 0.11 does: it begins right behind that. The recorder leaves the GPU to it, and XLA's annotations."""
    install(REFUSING, tmp_path / "lib")
    say = "import os, jax; jax.devices(); jax._src.xla_bridge.get_backend.cache_clear(); print(os.environ['VIEW_PROFILE_GPU'], 'NVTX_INJECTION64_PATH' in os.environ)"
    program = f"{say}\nwith jax.profiler.StepTraceAnnotation('train', step_num=0): pass"
    done = subprocess.run(["view_profile", "record", "--dir", tmp_path / "rec", "--", PYTHON, "-c", program],
                          env=place.env | {"PYTHONPATH": str(tmp_path / "lib")}, capture_output=True, text=True)
    assert done.stdout.startswith("off False\n") and "could not start" not in done.stderr, done
    assert [p.read_text() for p in tmp_path.glob("rec/plugins/profile/*/*.steps.txt")] == ["train 0"], done.stderr


@pytest.mark.parametrize("steps, want", [(None, ["train 0,train 1,train 2,train 3,train 4,train 5"]), ("2:2", ["train 2,train 3"]),
                                         ("1:1:2:2", ["train 1", "train 3"]), ("90:1", [])])
def test_record_switches_the_frameworks_profiler(place, tmp_path, steps, want):
    """A stand-in for JAX says what was on when (the real one: tests/peers)."""
    install(FAKE_JAX, tmp_path / "lib")
    program = tmp_path / "train.py"
    program.write_text("import jax\njax.devices()\nfor i in range(6):\n    with jax.profiler.StepTraceAnnotation('train', step_num=i):\n        pass\n")
    argv = ["view_profile", "record", "--dir", tmp_path / "rec", *(["--steps", steps] if steps else []), "--", PYTHON, program]
    env = place.env | {"PYTHONPATH": str(tmp_path / "lib")}
    done = subprocess.run(argv, env=env, capture_output=True, text=True)
    runs = sorted(p.read_text() for p in tmp_path.glob("rec/plugins/profile/*/*.steps.txt"))
    assert runs == want, done.stderr
    assert not list(tmp_path.glob("rec/.view_profile*"))
    failed = subprocess.run(argv, env=env | {"FAKE_FAILS": "1"}, capture_output=True, text=True)
    if want:
        assert failed.stderr.count("the profiler could not start; the program continues: another profiler runs") == 1


@pytest.mark.parametrize("library", ["now", "old"])
def test_record_knows_the_steps_of_this_package(place, tmp_path, library):
    """By the program's own numbers, also with a JAX that has no options of its profiler."""
    install(FAKE_JAX, tmp_path / "lib")
    if library == "old":
        at = tmp_path / "lib" / "jax" / "_src" / "profiler.py"
        at.write_text(at.read_text().replace("class ProfileOptions: pass", "").replace(", profiler_options=None", ""))
    (tmp_path / "train.py").write_text("import jax, view_profile as vp\njax.devices()\nfor i in range(100, 106):\n    with vp.step('train', i):\n        pass\n")
    env = environment(PYTHONPATH=f"{PACKAGE}:{tmp_path / 'lib'}")
    done = subprocess.run([BUILD / "view_profile", "record", "--dir", tmp_path / "rec", "--steps", "102:2", "--", PYTHON, tmp_path / "train.py"],
                          env=env, cwd=tmp_path, capture_output=True, text=True)
    assert [p.read_text() for p in tmp_path.glob("rec/plugins/profile/*/*.steps.txt")] == ["train 102,train 103"], done.stderr
    (run,) = tmp_path.glob("rec/plugins/profile/*")  # with what our own recorder has of the same process
    assert len({p.name.split(".")[0] for p in run.iterdir()}) == 2, list(run.iterdir())


def test_a_program_has_its_frameworks_profiler_for_itself(place, tmp_path):
    """Whoever profiles anyway is not stopped by record, which ends its own there."""
    install(FAKE_JAX, tmp_path / "lib")
    (tmp_path / "train.py").write_text("""
import jax, sys
jax.devices()
for i in range(6):
    if i == 2:
        jax.profiler.start_trace(sys.argv[1])
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        pass
    if i == 3:
        jax.profiler.stop_trace()
print("trained")
""")
    done = subprocess.run(["view_profile", "record", "--dir", tmp_path / "rec", "--", PYTHON, tmp_path / "train.py", tmp_path / "own"],
                          env=place.env | {"PYTHONPATH": str(tmp_path / "lib")}, capture_output=True, text=True)
    assert done.stdout.startswith("trained\n") and done.stderr.count("the program starts its own profiler; this recording stops here") == 1, done
    assert [(at, p.read_text()) for at in ("rec", "own") for p in tmp_path.glob(f"{at}/plugins/profile/*/*.steps.txt")] == [
        ("rec", "train 0,train 1"), ("own", "train 2,train 3")]


def test_who_only_looks_for_a_framework_changes_nothing(place, tmp_path):
    install(REFUSING, tmp_path / "lib")
    program = ("import importlib.util, os; importlib.util.find_spec('jax'); importlib.util.find_spec('torch'); "
               "print(os.environ.get('VIEW_PROFILE_GPU'), 'NVTX_INJECTION64_PATH' in os.environ)")
    done = subprocess.run(["view_profile", "record", "--dir", tmp_path / "rec", "--", PYTHON, "-c", program],
                          env=place.env | {"PYTHONPATH": str(tmp_path / "lib")}, capture_output=True, text=True)
    assert done.stdout == "None True\n", done


def test_who_traces_the_gpu_is_said(place, tmp_path):
    """CUPTI serves one profiler of a process: with --gpu the framework's has no GPU."""
    install(FAKE_JAX, tmp_path / "lib")
    env = place.env | {"PYTHONPATH": str(tmp_path / "lib"), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
    said = [subprocess.run(["view_profile", "record", *gpu, "--dir", tmp_path / "rec", "--", PYTHON, "-c", "import jax; jax.devices()"],
                           env=env, capture_output=True, text=True).stderr for gpu in ([], ["--gpu"])]
    assert ["CUPTI supports one profiler" in s for s in said] == [False, True]


def test_processes_that_record_started_are_hosts_of_one_run(place, tmp_path):
    install(FAKE_JAX, tmp_path / "lib")
    (tmp_path / "train.py").write_text("import jax\njax.devices()\n")
    (tmp_path / "launch.py").write_text("""
import os, subprocess, sys
for p in [subprocess.Popen([sys.executable, sys.argv[1]], env={**os.environ, "RANK": str(r)}) for r in range(3)]:
    p.wait()
subprocess.run([sys.executable, sys.argv[1]])
subprocess.run([sys.executable, sys.argv[1]])
""")
    subprocess.run(["view_profile", "record", "--dir", tmp_path / "rec", "--", PYTHON, tmp_path / "launch.py", tmp_path / "train.py"],
                   env=place.env | {"PYTHONPATH": str(tmp_path / "lib")}, capture_output=True, text=True)
    runs = list(tmp_path.glob("rec/plugins/profile/*"))
    assert len(runs) == 1 and len(list(runs[0].iterdir())) == 5


def test_the_program_of_the_package_is_found(tmp_path):
    done = run_python("import view_profile as vp\ntry:\n    vp.sessions('.')\nexcept vp.ReadError as e:\n    print(e.code, e)",
                      VIEW_PROFILE_PROGRAM="", PATH="/nowhere", check=False)
    assert done.stdout.startswith("127 view_profile is not installed") or "view_profile" in done.stderr


def test_stubs_name_what_is_there():
    """All of it, and nothing more. (That their types are right: tests/peers/test_python_typed.py.)"""
    stub = ast.parse((PACKAGE / "view_profile" / "__init__.pyi").read_text())
    (listed,) = [ast.literal_eval(n.value) for n in stub.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"]
    defined = {n.name for n in stub.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    defined |= {alias.asname for n in stub.body if isinstance(n, ast.ImportFrom) for alias in n.names if alias.asname}
    run_python("import sys, view_profile as vp\nassert sorted(vp.__all__) == sorted(sys.argv[1:]) and all(hasattr(vp, n) for n in vp.__all__)", *listed)
    assert set(listed) <= defined and {n for n in defined - set(listed) if n[0] != "_"} == set()
    assert (PACKAGE / "view_profile" / "py.typed").exists()
