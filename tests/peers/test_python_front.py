"""The Python package beside JAX: one name stands in both profiles, a plain program is recorded, the example of the README
ends with its annotated names. With VP_TORCH, a Python that has PyTorch, the same beside that."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest
from conftest import JAX

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from python_front import RELEASED, Installed, build_wheel, environment, run_python  # noqa: E402

pytestmark = pytest.mark.skipif(not (RELEASED / "python" / "view_profile").is_dir(), reason="SKIPPED: no headers of Python 3.10 or later")
TORCH = os.environ.get("VP_TORCH")
STEP = """
import sys, view_profile as vp
import jax, jax.numpy as jnp
@jax.jit
def f(x):
    with jax.named_scope("block"):
        return jnp.tanh(x @ x).sum()
x = jnp.ones((200, 200))
f(x).block_until_ready()
def train(n):
    for i in range(n):
        with vp.step("train", i), vp.annotate("forward", batch=8):
            f(x)
"""
HOST_NAMES = "names = {o.name for o in vp.top(sys.argv[1], n=500, where='host', host=%r).ops}\n"


def run(source, *args, python=sys.executable, **more):
    return run_python(source, *args, python=python, build=RELEASED, **more)


def view_profile(*args, **more):
    return subprocess.run([RELEASED / "view_profile", *map(str, args)], capture_output=True, text=True, timeout=300, **more)


def test_a_zone_is_jaxs_and_ours(tmp_path):
    """backend=("jax", "native") leaves two hosts in one run, both with the zones and the steps."""
    run(STEP + """
with vp.profile(sys.argv[1], ("jax", "native")) as p:
    train(5)
import os
hosts = sorted(f.split(".")[0] for f in os.listdir(p.run) if f.endswith(".xplane.pb"))
assert len(hosts) == 2 and hosts[1] == hosts[0] + "_native", hosts
for host in hosts:
    rows = {o.name: o.calls for o in vp.top(sys.argv[1], n=500, where="host", host=host).ops}
    assert rows["forward"] == 5, (host, rows)
    r = vp.report(sys.argv[1], host=host)
    assert r.steps["count"] == 5, (host, r.steps)
""", tmp_path)


def test_jax_alone_by_default_with_its_ops(tmp_path):
    run(STEP + """
with vp.profile(sys.argv[1]) as p:
    train(5)
r = vp.top(sys.argv[1], group="scope")
assert any("block" in o.name for o in r.ops), r
assert {o.calls for o in vp.top(sys.argv[1], n=500, where="host").ops if o.name == "forward"} == {5}
""", tmp_path)


def test_zones_are_in_profiles_that_jax_itself_took(tmp_path):
    """Whoever starts its profiler, before or after us; and not when it is off."""
    run("import jax\n" + STEP + """
with jax.profiler.trace(sys.argv[1] + "/a"):
    train(3)
train(3000)
with jax.profiler.trace(sys.argv[1] + "/b"):
    train(4)
for name, n in (("a", 3), ("b", 4)):
    rows = {o.name: o.calls for o in vp.top(f"{sys.argv[1]}/{name}", n=500, where="host").ops}
    assert rows["forward"] == n, rows
""", tmp_path)


def test_a_profile_that_runs_already_is_left_alone(tmp_path):
    done = run(STEP + """
import logging
logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
p = vp.Profiler(log_dir=sys.argv[1] + "/ours", auto_enable_at_step=0)
with jax.profiler.trace(sys.argv[1] + "/theirs"):
    p.begin_step(0); f(x); p.end_step()
    try:
        vp.profile(sys.argv[1] + "/ours").start()
    except RuntimeError as e:
        print("refused:", e)
assert vp.sessions(sys.argv[1] + "/theirs")
""", tmp_path)
    assert "the profiler could not start; training continues" in done.stdout and "refused:" in done.stdout
    assert not list(tmp_path.glob("ours/plugins/profile/*/*"))


def test_two_captures_of_one_second(tmp_path):
    run(STEP + """
p = vp.Profiler(num_steps=1, log_dir=sys.argv[1])
for i in range(8):
    if i % 2:
        p.capture_async()
    p.begin_step(i); f(x); p.end_step(10)
p.close()
assert len(vp.sessions(sys.argv[1])) == 4
""", tmp_path)


def test_the_standalone_demo_compiles_for_its_last_batch(tmp_path):
    """A directory for each fifth step and each validation; the first validation meets a batch of another size."""
    done = run(ROOT / "examples" / "python" / "standalone_mnist_profiling.py", "--output-dir", tmp_path)
    assert done.stdout.count("of the test set right") == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([f"train_step_{n}" for n in (0, 5, 10, 15)] + ["validation_epoch_0", "validation_epoch_1"])
    found = json.loads(view_profile("findings", "--format", "json", tmp_path / "validation_epoch_0").stdout)
    (recompile,) = [f for f in found["findings"] if f["id"] == "F10" and f["status"] == "fired"]
    assert "forward" in json.dumps(recompile) and "2 times" in json.dumps(recompile)
    again = json.loads(view_profile("findings", "--format", "json", tmp_path / "validation_epoch_1").stdout)
    assert "F10" not in [f["id"] for f in again["findings"] if f["status"] == "fired"]
    rows = json.loads(view_profile("top", "--where", "host", "--top", 500, "--format", "json", tmp_path / "validation_epoch_1").stdout)
    assert {op["name"]: op["calls"] for op in rows["ops"]}["validate_batch"] == 5


def test_the_comprehensive_demo_tells_annotated_from_plain(tmp_path):
    """The same work three times: with annotations its stages stand in the profile, without them they don't."""
    run(ROOT / "examples" / "python" / "comprehensive_profile_demo.py", "--output-dir", tmp_path, "--size", 1000, "--small-size", 300)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["annotated", "simple", "small"]

    def rows(mode, *more):
        text = view_profile("top", "--top", 500, "--format", "json", *more, tmp_path / mode).stdout
        return {op["name"]: op for op in json.loads(text)["ops"]}
    stages = {"multiply", "normalize", "reduce"}
    for mode in ("annotated", "small"):
        assert {n: rows(mode, "--where", "host")[n]["calls"] for n in stages} == dict.fromkeys(stages, 3)
    assert not stages & rows("simple", "--where", "host").keys()
    scopes = rows("annotated", "--group", "scope")
    slowest = max(scopes, key=lambda name: scopes[name]["self_ps"])
    assert "multiply" in slowest, scopes.keys()
    assert not any(name.endswith("/multiply") for name in rows("simple", "--group", "scope"))
    found = json.loads(view_profile("findings", "--format", "json", tmp_path / "annotated").stdout)
    assert "F17" in [f["id"] for f in found["findings"] if f["status"] == "fired"]
    compared = json.loads(view_profile("compare", "--format", "json", tmp_path / "annotated", tmp_path / "small").stdout)
    assert compared["per_step"] and compared["median"]["delta_ps"] < 0


def test_any_name_is_taken_while_jax_records(tmp_path):
    """By both, as far as JAX itself can: long ones, halves of surrogates, of args too. What it refuses, and args that have no
    text, are not the program's error; zones around them are those that they were."""
    run(STEP + """
class Silent:
    def __str__(self): raise RuntimeError("no text")
    __repr__ = __str__
names = ["x" * 150_000, "lone \\ud800", "nul \\0 in it", "", "名前", "#hash=1#", "a#b", "\\n"]
with vp.profile(sys.argv[1], ("jax", "native")) as p:
    with vp.annotate("around"):
        for name in names:
            with vp.annotate(name, **{"key \\ud800": "\\0"}), vp.step(name, 1 << 70):
                pass
        with vp.annotate("silent", x=Silent()), vp.annotate("inner"):
            pass
        train(2)
import os
jax_host, own = sorted(f.split(".")[0] for f in os.listdir(p.run) if f.endswith(".xplane.pb"))
both = {"lone \\\\ud800": 2, "名前": 2, "around": 1, "inner": 1, "forward": 2}
for host, long in ((jax_host, "x" * 150_000), (own, "x" * 4095)):
    rows = {o.name: o.calls for o in vp.top(sys.argv[1], n=5000, where="host", host=host).ops}
    assert long in rows and {n: rows.get(n) for n in both} == both, (host, {n: rows.get(n) for n in both})
""", tmp_path)


def test_what_was_sent_to_a_device_is_in_the_profile(tmp_path):
    """Calls come back before they are done, and nobody waits but the profile's end: each of them is in it, of a context and of a
    schedule, and nothing of before."""
    run(STEP + """
import time
@jax.jit
def slow(x):
    for _ in range(20):
        x = jnp.tanh(x @ x)
    return x
y = jnp.ones((700, 700))
slow(y).block_until_ready()
def send(n):
    begun = time.perf_counter()
    for _ in range(n):
        slow(y)
    return time.perf_counter() - begun
def ops(name):
    return {o.name: o.calls for o in vp.top(f"{sys.argv[1]}/{name}", group="module").ops}["jit_slow"]
with vp.profile(sys.argv[1] + "/one"):
    slow(y).block_until_ready()
send(2)
with vp.profile(sys.argv[1] + "/context"):
    sent = send(3)
begun = time.perf_counter()
slow(y).block_until_ready()
assert sent < 3 * (time.perf_counter() - begun)  # else nothing had to be waited for
p = vp.Profiler(num_steps=2, log_dir=sys.argv[1] + "/schedule", auto_enable_at_step=1)
for i in range(4):
    p.begin_step(i)
    send(2)
    p.end_step()
p.close()
assert ops("one") >= 40 and ops("context") == 3 * ops("one") and ops("schedule") == 4 * ops("one"), [ops(n) for n in ("one", "context", "schedule")]
""", tmp_path)


def test_rows_are_frames_of_pandas(tmp_path):
    """Times stay integers of picoseconds, whatever else a column lacks."""
    pytest.importorskip("pandas", reason="SKIPPED: pandas is not installed")
    run("""
import sys, view_profile as vp
a, b = sys.argv[1:]
frame, rows = vp.report(b).to_pandas(), vp.report(b).ops
assert len(frame) == len(rows) > 5 and frame["self_ps"].dtype == "int64"
assert list(frame.name) == [o.name for o in rows] and int(frame.self_ps.sum()) == sum(o.self_ps for o in rows)
assert list(vp.findings(b).to_pandas().id) == [f.id for f in vp.findings(b)]
c = vp.compare(a, b)
assert int(c.to_pandas().delta_ps.sum()) == sum(o["delta_ps"] for o in c.data["ops"]) and len(c.to_pandas()) == len(c.data["ops"])
""", *(ROOT / "tests" / "data" / "jax_cpu" / "three_runs" / "plugins" / "profile" / n for n in ("2026_11_21_06_34_00", "2026_11_21_06_34_02")))


@pytest.mark.skipif(not TORCH, reason="SKIPPED: no PyTorch; VP_TORCH names a Python that has it")
def test_a_program_has_pytorchs_profiler_for_itself(tmp_path):
    """record ends its own where the program's schedule begins, and leaves that whole."""
    (tmp_path / "train.py").write_text("""
import torch
from torch.profiler import profile, schedule
model = torch.nn.Linear(8, 8)
torch.ones(3).add(1)
with profile(schedule=schedule(wait=1, warmup=1, active=2)) as p:
    for i in range(4):
        model(torch.ones(2, 8)).sum().backward()
        p.step()
print([e.count for e in p.key_averages() if e.key == "aten::linear"])
""")
    done = view_profile("record", "--dir", tmp_path / "rec", "--", TORCH, tmp_path / "train.py")
    assert "[2]" in done.stdout and done.stderr.count("this recording stops here") == 1, done
    assert "aten::add" in view_profile("top", "--top", "50", tmp_path / "rec").stdout


@pytest.mark.skipif(not TORCH, reason="SKIPPED: no PyTorch; VP_TORCH names a Python that has it")
def test_pytorch(tmp_path):
    run("""
import sys, view_profile as vp
import torch
m = torch.nn.Linear(64, 64)
x = torch.randn(8, 64)
with vp.profile(sys.argv[1]):
    for i in range(4):
        with vp.step("train", i), vp.annotate("forward"):
            m(x).sum().backward()
rows = {o.name: o.calls for o in vp.top(sys.argv[1], n=500).ops}
assert rows["forward"] == 4 and "aten::addmm" in rows, rows
assert vp.report(sys.argv[1]).steps["count"] == 4
assert len(vp.top(sys.argv[1]).to_pandas()) == len(vp.top(sys.argv[1]).ops)
""", tmp_path, python=TORCH)
    program = tmp_path / "plain.py"
    program.write_text("import torch\nm = torch.nn.Linear(9, 9)\no = torch.optim.SGD(m.parameters(), lr=.1)\n"
                       "for i in range(8):\n    o.zero_grad(); m(torch.ones(2, 9)).sum().backward(); o.step()\n")
    env = {k: v for k, v in environment(RELEASED).items() if k != "PYTHONPATH"}
    for steps, calls in ((), 8), (("--steps", "2:3"), 3):
        directory = tmp_path / f"rec{calls}"
        done = view_profile("record", "--dir", directory, *steps, "--", TORCH, program, env=env)
        assert done.returncode == 0, done.stderr
        rows = view_profile("top", "--top", 60, directory).stdout
        assert f" {calls} " in next(line for line in rows.splitlines() if line.endswith("aten::addmm"))


OTHERS = sorted(p for p in pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python") if (3, 10) <= tuple(map(int, p.parts[-3].split(".")[:2])))
SUBINTERPRETER = """
import sys, view_profile as vp
with vp.profile("other"):
    with vp.annotate("zone"): pass
assert [o.name for o in vp.top("other").ops] == ["zone"]
program = "import view_profile as vp\\nwith vp.annotate('of another interpreter'): pass"
if sys.version_info >= (3, 13):
    import _interpreters as i
    assert [i.run_string(i.create(how), program) for how in ("legacy", "isolated")] == [None, None]
elif sys.version_info >= (3, 12):
    import _xxsubinterpreters as i
    assert [i.run_string(i.create(isolated=how), program) for how in (False, True)] == [None, None]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


def test_the_wheel(wheel, installed):
    """The program, the recorder and the package find each other."""
    assert "cp310-abi3" in wheel.name
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    assert installed.said("view_profile", "--version").startswith(f"view_profile {version}")
    assert installed.said(installed.python, "-c", "import view_profile; print(view_profile.__version__)") == f"{version}\n"
    headers = {h.name for h in (ROOT / "include").iterdir()}
    assert headers and headers == {h.name for h in (installed.prefix / "include").iterdir() if h.name.startswith("view_profile")}
    if shutil.which("pandoc"):
        manuals = {m.name[:-3] for m in (ROOT / "docs" / "man").glob("view_profile*.md")}
        assert manuals and manuals <= {m.name for m in (installed.prefix / "share" / "man" / "man1").iterdir()}
    installed.said(installed.python, "-c", "import view_profile as vp\nwith vp.profile('p'):\n  for i in range(3):\n    with vp.annotate('zone'): pass\n"
                   "assert [o.calls for o in vp.top('p').ops] == [3]")
    assert "zone" in installed.said("view_profile", "top", "p")
    assert installed.said("view_profile", "record", "--dir", "q", "--", installed.python, "-c",
                          "import view_profile as vp\nwith vp.annotate('mine'): print(1)") == "1\n"
    assert "mine" in installed.said("view_profile", "top", "q")
    nobody = installed.run("view_profile", "capture", "127.0.0.1:1", check=False)
    assert nobody.returncode == 6 and "127.0.0.1:1" in nobody.stderr  # by the two programs beside it


def test_what_is_in_the_wheel_runs_with_an_older_c_library(installed):
    """manylinux_2_34's."""
    elf = [p for p in installed.prefix.rglob("*")
           if p.is_file() and not p.is_symlink() and "view_profile" in str(p.relative_to(installed.prefix)) and p.read_bytes()[:4] == b"\x7fELF"]
    assert len(elf) >= 8
    for needs in (installed.said("objdump", "-T", p) + installed.said("readelf", "-V", p) for p in elf):
        assert "GLIBC_ABI_DT_RELR" not in needs and max([int(v) for v in re.findall(r"GLIBC_2\.(\d+)", needs)], default=0) <= 34


def test_c_programs_find_the_recorder_of_the_wheel(installed, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(app C)\nfind_package(view_profile_capture REQUIRED)\n"
                                                     "add_executable(app app.c)\ntarget_link_libraries(app view_profile::capture)\n")
    (tmp_path / "app" / "app.c").write_text('#include <view_profile_capture.h>\nint main(void) { VP_PROFILE_SCOPE("c"); VP_SCOPE("of C"); return 0; }\n')
    installed.said("cmake", "-S", "app", "-B", "app/build", f"-DCMAKE_PREFIX_PATH={installed.prefix}", cwd=tmp_path)
    installed.said("cmake", "--build", "app/build", cwd=tmp_path)
    installed.said("app/build/app", cwd=tmp_path)
    assert "of C" in installed.said("view_profile", "top", "c", cwd=tmp_path)


def test_every_other_python_takes_the_wheel(wheel, tmp_path):
    """The same file, and in subinterpreters, also such as have a lock of their own."""
    for other in OTHERS:
        there = Installed(tmp_path / other.parts[-3], wheel, other)
        there.said(there.python, "-c", SUBINTERPRETER)


@pytest.fixture(scope="module")
def beside_jax(installed):
    """The installed one, with the frameworks of these tests."""
    place, = installed.prefix.glob("lib/python3*/site-packages")
    (place / "frameworks.pth").write_text("".join(f"{p}\n" for p in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    return installed


def test_the_example_ends_with_its_annotated_names(beside_jax, tmp_path):
    beside_jax.said(beside_jax.python, ROOT / "examples" / "python" / "mnist.py", "--steps", 25, "--profiling-dir", tmp_path / "profiles")
    top = beside_jax.said("view_profile", "top", "--where", "host", "--by", "total", "--format", "json", tmp_path / "profiles")
    slowest = [op["name"] for op in json.loads(top)["ops"]][:8]
    assert {"train_step", "load_batch", "forward_backward_update"} <= set(slowest), slowest
    scopes = beside_jax.said("view_profile", "top", "--group", "scope", "--top", 60, tmp_path / "profiles")
    assert "dense_0" in scopes and "sgd" in scopes


def test_a_plain_program_is_recorded(beside_jax, tmp_path):
    """No import of us, and by steps where it annotates them."""
    program = [beside_jax.python if JAX == sys.executable else JAX, ROOT / "examples" / "python" / "plain_jax.py"]
    done = beside_jax.run("view_profile", "record", "--dir", tmp_path, "--", *program)
    assert "recorded 1 run" in done.stderr and "dot" in done.stderr, done.stderr
    done = beside_jax.run("view_profile", "record", "--dir", tmp_path / "steps", "--steps", "5:3", "--", *program)
    text = beside_jax.said("view_profile", "report", "--format", "json", tmp_path / "steps")
    assert [s["number"] for s in json.loads(text)["steps"]["list"]] == [5, 6, 7], done.stderr
