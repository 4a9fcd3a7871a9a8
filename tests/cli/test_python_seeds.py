"""The Python front in the manner of the profilers that its users know (XAX, EfficientIDS, SuperGrad): their arguments, defaults,
messages and directories; and that what was wrong with those is not wrong here."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from emulated import not_emulated  # noqa: E402
from python_front import BUILD, PACKAGE, run_python  # noqa: E402
from test_python import host_rows, install  # noqa: E402
from traces import trace  # noqa: E402

pytestmark = pytest.mark.skipif(not (PACKAGE / "view_profile").is_dir(), reason="SKIPPED: no headers of Python 3.10 or later")
SAYS = 'import logging, sys, view_profile as vp\nlogging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)\n'

# What it does is in the file $ORDER, a line for each call; with BREAKS its profiler fails where it ends.
JAX = {
    "jax/__init__.py": """
from jax import profiler
from jax.profiler import told
class Array:
    def block_until_ready(self): told("ready"); return self
def effects_barrier(): told("effects")
def live_arrays(): return [Array()]
def local_devices(): return ["one"]
def device_put(x, device): return x
def jit(f): return lambda x: (told("computed"), Array())[1]
def block_until_ready(x): told("result"); return x
class Device: device_kind = __import__("os").environ.get("KIND", "cpu")
def devices(): return [Device()]
""",
    "jax/profiler.py": """
import os
def told(what):
    with open(os.environ["ORDER"], "a") as f: f.write(what + "\\n")
class ProfileOptions: pass
def start_trace(directory, profiler_options=None):
    told("start"); start_trace.directory = directory
def stop_trace():
    told("stop")
    if "BREAKS" in os.environ: raise RuntimeError("broken")
    os.makedirs(start_trace.directory + "/plugins/profile/x")
    open(start_trace.directory + "/plugins/profile/x/vm.xplane.pb", "w").close()
""",
}


@pytest.fixture
def jax(tmp_path):
    """What a program is run with, and what it asked of JAX."""
    install(JAX, tmp_path / "lib")
    order = tmp_path / "order"

    class Jax:
        environment = {"PYTHONPATH": f"{PACKAGE}:{tmp_path}/lib", "ORDER": str(order)}

        @staticmethod
        def asked():
            return order.read_text().split() if order.exists() else []
    return Jax


def test_arguments_and_defaults_are_those_of_the_seeds():
    run_python("""
import dataclasses, inspect, view_profile as vp
def begins(function, **expected):
    given = list(inspect.signature(function).parameters.values())[:len(expected)]
    assert {p.name: p.default for p in given} == {k: inspect._empty if v is ... else v for k, v in expected.items()}, function
begins(vp.Profiler, num_steps=5, log_dir="./profiler_traces", auto_enable_at_step=None)
begins(vp.trace_function, fn=..., name=None)
begins(vp.profile_context, state=..., name="profile")
begins(vp.ProfilerMixin.profile_context, self=..., state=..., name="profile")
begins(vp.profile_fn, fn=..., state=...)
begins(vp.open_latest_profile, profile_dir=None)
begins(vp.setup_tensorboard_logging, gpu_count=..., timestamp=None)
begins(vp.run_with_jax_profiler, func=..., trace_name=..., log_dir=..., description="")
assert list(inspect.signature(vp.ProfileContext).parameters)[0] == "log_dir"
seeds = dict(enable_profiling=False, profiling_dir=None, profile_every_n_steps=100, profile_duration_ms=3000, max_profile_count=5, backend="tensorboard")
assert {k: v for k, v in dataclasses.asdict(vp.ProfilerConfig()).items() if k in seeds} == seeds
assert not vp.ProfilerConfig().profile_gpu_trace and not vp.ProfilerConfig().keep_first_step
""")


def test_messages_of_a_profiler(tmp_path):
    """In their order, with a line that says where the run is and one that says how to look at it."""
    done = run_python(SAYS + """
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1], auto_enable_at_step=1, backend="native")
for i in range(4):
    p.begin_step(i)
    p.end_step()
print(p.last_run)
""", tmp_path)
    *said, run = done.stdout.splitlines()
    assert said == ["Profiler enabled for next 2 steps", "Stopping profiler after 2 steps", f"Trace saved to: {run}/",
                    f"View at: https://ui.perfetto.dev/, or with: view_profile --profile-dir {tmp_path}"]


def test_what_is_no_backend_is_said_before_training(tmp_path):
    """A schedule of XAX's, which is often off, says it where it would begin."""
    done = run_python(SAYS + """
for wrong in (lambda: vp.Profiler(backend="tensorbored"), lambda: vp.profile(sys.argv[1], ()), lambda: vp.Profiler(num_steps=0),
              lambda: vp.Profiler(backend="native").capture_async(0)):
    try:
        wrong()
    except ValueError as e:
        continue
    raise SystemExit("taken")
config = vp.ProfilerConfig(True, sys.argv[1], 1, backend="tensorbored")
with vp.profile_context(1, "train_step", config):
    print("trained")
""", tmp_path)
    assert "unknown backend 'tensorbored'" in done.stdout and done.stdout.endswith("trained\n")


ABSENT = {"jax.py": "raise ImportError('No module named jax')\n", "torch.py": "raise ImportError('No module named torch')\n"}


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_framework_that_is_absent(tmp_path, backend):
    """Training goes on; whoever asks for one profile is told why there is none. Nothing stays aside."""
    install(ABSENT, tmp_path / "lib")
    done = run_python(SAYS + """
p = vp.Profiler(num_steps=1, log_dir=sys.argv[1], auto_enable_at_step=0, backend=sys.argv[2])
for i in range(3):
    p.begin_step(i)
    p.end_step()
assert vp.profile_fn(lambda: 7, 1, "f", vp.ProfilerConfig(True, sys.argv[1], 1, backend=sys.argv[2])) == 7
try:
    vp.profile(sys.argv[1], (sys.argv[2], "native")).start()
except ImportError as e:
    print("raised", e)
with vp.profile(sys.argv[1] + "/own", "native"), vp.annotate("after"):  # nobody's recording is left on
    pass
""", tmp_path / "runs", backend, PYTHONPATH=f"{PACKAGE}:{tmp_path}/lib")
    assert done.stdout.count("the profiler could not start; training continues") == 2 and f"raised No module named {backend}" in done.stdout
    assert "after" in host_rows(tmp_path / "runs" / "own") and not list(tmp_path.rglob(".view_profile-*"))


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_python(SAYS + """
config = vp.ProfilerConfig(True, sys.argv[1] + "/below", 1, backend="native")
assert vp.profile_fn(lambda: 7, 1, "f", config) == 7
p = vp.Profiler(log_dir=sys.argv[1] + "/below", slow_step_ratio=2, backend="native")
for i in range(30):
    p.begin_step(i)
    p.end_step()
p.close()
try:
    vp.profile(sys.argv[1], "native").start()
except OSError:
    print("raised")
""", tmp_path / "file")
    assert "the profiler could not start; training continues" in done.stdout and done.stdout.endswith("raised\n")
    assert done.stdout.count("slow steps cannot be captured") == 1


def test_a_capture_ends_by_its_time(tmp_path):
    not_emulated("what is slow is in time or not")
    done = run_python(SAYS + """
import time
task = vp.ProfilerMixin()
task.config = vp.ProfilerConfig(True, sys.argv[1], 1, profile_duration_ms=200, max_profile_count=1, backend="native")
with task.profile_context(1, "long"):
    with vp.annotate("early"):
        pass
    time.sleep(1)
    with vp.annotate("late"):
        pass
with task.profile_context(2, "counted"):
    pass
""", tmp_path)
    rows = host_rows(tmp_path)
    assert "early" in rows and "late" not in rows and [p.name for p in tmp_path.iterdir()] == ["long_step_1"]
    assert done.stdout.count("Finished capture: long_step_1 in ") == 1


@pytest.mark.parametrize("backend", ["tensorboard", "perfetto"])
def test_both_views_of_xax_are_jaxs_profiler(tmp_path, jax, backend):
    """By a call that waits for no browser: the stand-in knows no create_perfetto_link. What runs when a capture begins or
    ends is waited for, also results that nobody holds."""
    run_python(SAYS + """
from jax.profiler import told
config = vp.ProfilerConfig(True, sys.argv[1], 10, backend=sys.argv[2])
for i in range(11):
    with vp.profile_context(i, "train_step", config):
        told(f"step{i}")
""", tmp_path / "runs", backend, **jax.environment)
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["train_step_step_10"]
    asked = jax.asked()
    at = asked.index("start")
    waits = ["effects", "computed", "ready", "ready"]
    assert asked[at - 4:] == [*waits, "start", "step10", *waits, "stop"]
    assert asked[:at - 4] == [f"step{i}" for i in range(10)]  # and steps that are not captured wait for nothing


def test_the_last_step_waits_for_the_device(tmp_path, jax):
    """And for what the program says, before the capture ends; a wait that fails costs the profile nothing. Tokens that are
    on the device are asked for when it is over."""
    done = run_python(SAYS + """
from jax.profiler import told
class Tokens:
    def __int__(self): told("tokens"); return 7
    def __bool__(self): raise SystemExit("asked while the steps run")
def sync():
    told("sync")
    raise RuntimeError("lost")
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1], auto_enable_at_step=0, backend="jax", sync=sync)
for i in range(3):
    p.begin_step(i)
    told(f"step{i}")
    p.end_step(Tokens())
""", tmp_path, **jax.environment)
    asked = [a for a in jax.asked() if a in ("start", "stop", "sync", "tokens") or a.startswith("step")]
    assert asked == ["start", "step0", "step1", "sync", "stop", "tokens", "tokens", "step2"]
    assert "waiting for the device failed: lost" in done.stdout and "Trace saved to: " in done.stdout
    assert json.loads((tmp_path / "flop_stats.json").read_text())["total_tokens"] == 7  # of the step that is not the first


def test_control_c_while_a_profile_ends(tmp_path):
    """It is the program's, also in the wait for the device; what was recorded is written when the program ends."""
    done = run_python(SAYS + """
waits = []
def sync():
    waits.append(1)
    if len(waits) in (1, 2):
        raise KeyboardInterrupt
p = vp.Profiler(num_steps=1, log_dir=sys.argv[1] + "/schedule", auto_enable_at_step=0, backend="native", sync=sync)
p.begin_step(0)
with vp.annotate("kept"):
    pass
for interrupted in (p.end_step, p.close):
    try:
        interrupted()
    except KeyboardInterrupt:
        print("passed on", flush=True)
assert p.is_profiling
""", tmp_path)
    assert done.stdout.count("passed on") == 2 and "Profiler still active on exit, stopping..." in done.stdout
    assert len(host_rows(tmp_path / "schedule")["kept"]) == 1


def test_tokens_that_are_no_numbers_do_not_end_training(tmp_path):
    done = run_python(SAYS + """
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1], auto_enable_at_step=0, backend="native")
for i in range(3):
    p.begin_step(i)
    p.end_step("many")
""", tmp_path)
    assert "flop_stats.json could not be written; training continues" in done.stdout and "Trace saved to: " in done.stdout
    assert list(tmp_path.glob("plugins/profile/*/*.xplane.pb")) and not (tmp_path / "flop_stats.json").exists()


def test_runs_by_device_count(tmp_path, jax):
    """SuperGrad's: its directories, what compiles and what writes apart from what runs, and the program's own error also where
    the profiler fails behind it."""
    done = run_python("""
import os, re, sys, time, view_profile as vp
os.chdir(sys.argv[1])
logs = vp.setup_tensorboard_logging(4, "20260102_030405")
assert logs == os.path.join(os.getcwd(), "tensorboard_logs", "4gpu_20260102_030405") and os.path.isdir(logs)
assert re.fullmatch(r"2gpu_\\d{8}_\\d{6}", os.path.basename(vp.setup_tensorboard_logging(2)))
calls, times = [], {}
def work():
    calls.append(1)
    time.sleep(0.3 if len(calls) == 1 else 0.01)
    return 5
result, directory = vp.run_with_jax_profiler(work, "lcam_trace", logs, "LCAM", "native", warmups=2, times=times)
assert (result, directory, len(calls)) == (5, os.path.join(logs, "lcam_trace"), 3)
assert 0.3 <= times["first_call_s"] < times["warmup_s"] and 0.01 <= times["run_s"] < 0.3 and times["export_s"] > 0, times
assert vp.sessions(directory)
import jax
def fails():
    raise ValueError("the program's own")
os.environ["BREAKS"] = "1"
for function, expected in ((fails, "the program's own"), (work, "broken")):
    try:
        vp.run_with_jax_profiler(function, "tad_trace", logs)
    except (ValueError, RuntimeError) as e:
        assert str(e) == expected, e
    else:
        raise SystemExit("no error")
""", tmp_path, **jax.environment)
    assert f"TensorBoard logs: {tmp_path}/tensorboard_logs/4gpu_20260102_030405\n" in done.stdout and "\nLCAM\n" in done.stdout
    asked = [a for a in jax.asked() if a in ("start", "stop", "result")]
    assert asked == ["start", "stop", "start", "result", "stop"]  # the first ones with our own recorder and no JAX; each stops once


def test_flop_stats():
    run_python("""
import view_profile as vp
s = vp.flop_stats([9.0, 2.0, 2.0], [50, 100, 300], model_params=10**9, peak_tflops=2.0, devices=2, cold_steps=1)
assert s == {"profiling_steps": 2, "total_tokens": 400, "total_time_sec": 4.0, "tokens_per_sec": 100.0, "model_params": 10**9,
             "flops_per_token": 6e9, "achieved_tflops": 0.6, "peak_tflops": 2.0, "mfu_percent": s["mfu_percent"], "per_step_tokens": [100, 300],
             "per_step_times": [2.0, 2.0], "cold_steps": 1, "cold_step_time": 9.0}, s
assert abs(s["mfu_percent"] - 15) < 1e-9
s = vp.flop_stats([], [])
assert (s["tokens_per_sec"], s["achieved_tflops"], s["mfu_percent"], s["total_time_sec"]) == (None, None, None, 0)
assert vp.flop_stats([1.0], [10], flops_per_token=1e12)["achieved_tflops"] == 10
""")


@pytest.mark.parametrize("kind, peak", [
    ("NVIDIA A100-SXM4-80GB", 312), ("NVIDIA H100 80GB HBM3", 989), ("Tesla V100-SXM2-16GB", 125), ("Tesla T4", 65), ("NVIDIA L4", 121),
    ("TPU v4", 275), ("TPU v5 lite", 197), ("TPU v5e", 197), ("NVIDIA L40", None), ("NVIDIA T400", None), ("cpu", None)])
def test_the_peak_of_a_device(tmp_path, jax, kind, peak):
    done = run_python("import jax\nfrom view_profile import _profiler\nprint(_profiler._peak_of_device())", KIND=kind, **jax.environment)
    assert done.stdout == f"{None if peak is None else float(peak)}\n"


def test_a_trace_of_the_gpu(tmp_path):
    """profile_gpu_trace, and a schedule that asks for it: with stand-ins for CUDA's driver and CUPTI, three kernels and their
    calls; without CUDA the host's zones alone."""
    fake = BUILD / "tests" / "libfake_cupti.so"
    if not fake.exists():
        pytest.skip(f"SKIPPED: no {fake}: build with VP_TESTS")
    cuda = tmp_path / "cuda"
    cuda.mkdir()
    (cuda / "libcupti.so.13").symlink_to(fake)
    (tmp_path / "driver.c").write_text("int cuInit(unsigned flags) { return (int)flags; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", tmp_path / "driver.c", "-o", cuda / "libcuda.so.1"], check=True)
    run_python(SAYS + """
import ctypes
with vp.profile_gpu_trace(sys.argv[1] + "/without", "native"), vp.annotate("host"):
    pass
assert {o.name for o in vp.top(sys.argv[1] + "/without").ops} == {"host"}
ctypes.CDLL("libcuda.so.1")
config = vp.ProfilerConfig(True, sys.argv[1], 1, backend="native", profile_gpu_trace=True)
with vp.profile_context(1, "scheduled", config), vp.annotate("host"):
    pass
top = {o.name: (o.device, o.calls, o.total_ps) for o in vp.top(sys.argv[1] + "/scheduled_step_1").ops}
assert [(d, c, t) for n, (d, c, t) in top.items() if "work" in n] == [("/device:GPU:0", 3, 3_000_000)], top
assert "host" in {o.name for o in vp.top(sys.argv[1] + "/scheduled_step_1", where="host").ops}
""", tmp_path / "runs", LD_LIBRARY_PATH=str(cuda), FAKE_CUPTI_GOES="1")


def test_a_full_pool_is_said_and_counted(tmp_path):
    """Memory is bounded, and what is missing is in the log, in the count and in the report."""
    done = run_python(SAYS + """
with vp.profile(sys.argv[1], "native", pool_bytes=1 << 20) as p:
    for i in range(200_000):
        with vp.annotate("zone"):
            pass
(op,) = vp.top(sys.argv[1]).ops
assert 0 < p.zones == op.calls < 200_000
assert "F23" in {f.id for f in vp.findings(sys.argv[1])}
""", tmp_path)
    assert "Buffer full (1.0 MiB after" in done.stdout


TORCH = {
    "torch/__init__.py": "from torch import _C, autograd\nclass cuda:\n    is_available = staticmethod(lambda: False)\n",
    "torch/_C/__init__.py": "class _autograd:\n    on = False\n    @classmethod\n    def _profiler_enabled(cls): return cls.on\n",
    "torch/autograd/__init__.py": "from torch.autograd import profiler\n",
    "torch/autograd/profiler.py": '''
from torch._C import _autograd
open_now, seen = [], []
def _enable_profiler(): _autograd.on = True
def _disable_profiler(): _autograd.on = False
class record_function:
    def __init__(self, name): self.name = name; name.encode()
    def __enter__(self): assert _autograd.on; open_now.append(self.name); return self
    def __exit__(self, *e): assert open_now.pop() == self.name; seen.append(self.name)
''',
}


@pytest.mark.parametrize("first", ["import torch, view_profile as vp", "import view_profile as vp, torch"])
def test_a_zone_is_a_record_function_of_pytorchs(tmp_path, first):
    """While its profiler is on, whoever starts it, and in whatever order both are imported; in our recording always. (PyTorch
    itself: tests/peers.)"""
    install(TORCH, tmp_path / "lib")
    run_python(f"import asyncio, sys\n{first}\n" + """
from torch.autograd import profiler
@vp.annotate("function")
def function():
    return 1
@vp.annotate("generator")
def generator():
    yield 1
@vp.annotate("coroutine")
async def coroutine():
    await asyncio.sleep(0)
@vp.annotate("async generator")
async def agen():
    yield 1
async def both():
    await coroutine()
    [i async for i in agen()]
def work():
    with vp.step("train", 3), vp.annotate("zone", n=1):
        function()
        list(generator())
        asyncio.run(both())
work()
assert not profiler.seen
for i in range(2000):  # so long without a profiler that nobody asks any more
    function()
with vp.profile(sys.argv[1], "native"):
    profiler._enable_profiler()
    work()
    with vp.annotate("lone \\ud800"):
        pass
    profiler._disable_profiler()
    work()
assert profiler.seen == ["function", "generator", "generator", "coroutine", "coroutine", "async generator", "async generator", "zone",
                         "ProfilerStep#3", "lone \\\\ud800"], profiler.seen
assert not profiler.open_now
""", tmp_path / "runs", PYTHONPATH=f"{PACKAGE}:{tmp_path}/lib")
    rows = host_rows(tmp_path / "runs")
    assert {n: len(rows[n]) for n in ("zone", "function", "generator", "coroutine", "async generator")} == {
        "zone": 2, "function": 2, "generator": 4, "coroutine": 4, "async generator": 4}


def test_generators_keep_what_is_sent_thrown_and_closed(tmp_path):
    """As they do without us: values and errors reach them, an end is an end, and nothing stays open."""
    run_python("""
import asyncio, view_profile as vp
def plain():
    told = []
    try:
        while True:
            try:
                told.append((yield len(told)))
            except KeyError as e:
                told.append(str(e))
    finally:
        ends.append(told)
async def asynchronous():
    told = []
    try:
        while True:
            try:
                told.append((yield len(told)))
            except KeyError as e:
                told.append(str(e))
            await asyncio.sleep(0)
    finally:
        ends.append(told)
async def drive(g):
    out = [await g.asend(None), await g.asend("a"), await g.athrow(KeyError("b")), await g.asend("c")]
    await g.aclose()
    try:
        await g.asend(None)
    except StopAsyncIteration:
        return out
async def cancelled():
    try:
        await asyncio.sleep(60)
    finally:
        ends.append("cancelled")
async def cancel(function):
    task = asyncio.ensure_future(function())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return True
results = []
for how in (lambda f: f, vp.annotate("zone"), vp.trace_function):
    ends = []
    g = how(plain)()
    out = [next(g), g.send("a"), g.throw(KeyError("b")), g.send("c")]
    g.close()
    results.append((out, next(g, "ended"), asyncio.run(drive(how(asynchronous)())), asyncio.run(cancel(how(cancelled))), ends))
assert results[0] == results[1] == results[2], results
assert results[0] == ([0, 1, 2, 3], "ended", [0, 1, 2, 3], True, [["a", "'b'", "c"], ["a", "'b'", "c"], "cancelled"]), results[0]
""", tmp_path)


PANDAS = {"pandas/__init__.py": """
class DataFrame:
    @classmethod
    def from_records(cls, rows):
        frame = cls()
        frame.rows = list(rows)
        return frame
"""}


def test_rows_become_a_frame(tmp_path):
    """What is handed to pandas is every figure of every row. (pandas itself: tests/peers.)"""
    install(PANDAS, tmp_path)
    runs = trace("jax_cpu/three_runs") / "plugins" / "profile"
    run_python("""
import sys, view_profile as vp
a, b = sys.argv[1:]
r, c = vp.report(b), vp.compare(a, b)
assert len(r.data["ops"]) > 5 and r.to_pandas().rows == r.ops.to_pandas().rows == r.data["ops"]
assert r.findings and r.findings.to_pandas().rows == [f for f in r.data["findings"] if f["status"] == "fired"] == vp.findings(b).to_pandas().rows
assert vp.top(b, n=3).to_pandas().rows == vp.top(b, n=3).data["ops"] and len(vp.top(b, n=3).ops) == 3
assert c.data["ops"] and c.to_pandas().rows == c.data["ops"]
assert vp.sessions(b).to_pandas().rows[0]["id"] == vp.sessions(b)[0].id
""", runs / "2026_11_21_06_34_00", runs / "2026_11_21_06_34_02", PYTHONPATH=f"{PACKAGE}:{tmp_path}")


def test_without_pandas_it_is_said(tmp_path):
    install({"pandas.py": "raise ImportError('none')\n"}, tmp_path)
    run_python("""
import sys, view_profile as vp
try:
    vp.top(sys.argv[1]).to_pandas()
except ImportError as e:
    assert str(e) == "to_pandas() needs pandas: pip install pandas"
else:
    raise SystemExit("no error")
""", trace("jax_cpu/mnist_train"), PYTHONPATH=f"{PACKAGE}:{tmp_path}")


def test_a_notebook_shows_pages_that_can_do_nothing(tmp_path):
    """A frame whose sandbox grants nothing, and whose text cannot end it: as a parser of HTML reads it there is one element, and
    in it our page, without a script, whatever ops are called."""
    names = ['"></iframe><script>alert(1)</script>', "<img src=x onerror=alert(1)>", "&quot;&gt;", "plain"]
    for n, folder in enumerate("ab"):
        events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 100 * i, "dur": 50 + 10 * n, "name": name} for i, name in enumerate(names)]
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "host.trace.json").write_text(json.dumps({"traceEvents": events}))
    run_python("""
import html.parser, sys, view_profile as vp
class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)
        self.close()
    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
    def handle_data(self, data):
        self.text += data
a, b = sys.argv[1:]
for shown in (vp.report(a), vp.top(a), vp.compare(a, b)):
    outer = Elements(shown._repr_html_())
    (tag, attrs), = outer.found
    assert tag == "iframe" and attrs["sandbox"] == "" and not outer.text.strip(), outer.found
    page = Elements(attrs["srcdoc"])
    tags = {t for t, _ in page.found}
    assert {"html", "table"} <= tags and not {"script", "iframe", "img", "object", "embed"} & tags, tags
    assert not [k for _, attrs in page.found for k in attrs if k.startswith("on")]
    assert "<script>alert(1)</script>" in page.text, "the name is text"
""", tmp_path / "a", tmp_path / "b")
