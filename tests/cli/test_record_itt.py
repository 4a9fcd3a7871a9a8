"""`view_profile record` on a program that ITT annotates: Python with Intel's ittapi, which has the
real ittnotify compiled into it."""
import importlib.util
import pathlib
import subprocess
import sys

from emulated import not_emulated
from recording import environment, events, runs, sanitizer, zones

PROGRAM = """
import threading
import ittapi

physics = ittapi.domain("physics")

def work():
    with ittapi.task("worker task", domain=physics):
        pass

for _ in range(7):
    with ittapi.task("solve", domain=physics):
        with ittapi.task("assemble", domain=physics):
            pass
a = ittapi.task("overlapped one", domain=physics, overlapped=True)
b = ittapi.task("overlapped two", domain=physics, overlapped=True)
a.begin()
b.begin()
a.end()
b.end()
t = threading.Thread(target=work)
t.start()
t.join()
print("done")
"""


def ittapi():
    """Where the wheel is; scripts/requirements-test.txt installs it."""
    spec = importlib.util.find_spec("ittapi")
    assert spec, "no ittapi: pip install -r scripts/requirements-test.txt"
    return pathlib.Path(spec.origin).parent.parent


def test_a_python_program(place, program):
    not_emulated("ittapi is this machine's")
    (place.dir / "app.py").write_text(PROGRAM)
    more = {"PYTHONPATH": str(ittapi())}
    if sanitizer(program):
        runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
        more |= {"ASAN_OPTIONS": "detect_leaks=0", "PRELOAD": runtime.stdout.strip()}
    command = ["sh", "-c", 'LD_PRELOAD=$PRELOAD exec "$@"', "sh", sys.executable, "app.py"]
    done = subprocess.run(["view_profile", "record", "--", *command], cwd=place.dir, check=False,
                          env=environment(place, **more), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
    (run,) = runs(place.dir / "profiles")
    solve, assemble = zones(run, "solve"), zones(run, "assemble")
    assert len(solve) == len(assemble) == 7
    assert {z["args"]["category"] for z in solve + assemble} == {"physics"}
    for outer, inner in zip(solve, assemble):
        assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.001
    (one,), (two,) = zones(run, "overlapped one"), zones(run, "overlapped two")
    assert one["ts"] <= two["ts"] <= one["ts"] + one["dur"] <= two["ts"] + two["dur"]
    (worker,) = zones(run, "worker task")
    assert worker["tid"] != solve[0]["tid"]
    assert not [e for e in events(run) if "error" in e["name"]]
