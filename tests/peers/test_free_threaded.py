"""A Python without a lock around all of it: the wheel of these sources has an extension of its own for it, which leaves
it without one, and no zone of many threads is lost or counted twice. VP_FREE_THREADED names such a Python; since none is
packaged where CI runs, one is made by `./configure --disable-gil && make` of CPython 3.13 or later."""
import os
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from python_front import Installed, build_wheel  # noqa: E402

PYTHON = os.environ.get("VP_FREE_THREADED")
pytestmark = pytest.mark.skipif(not PYTHON, reason="SKIPPED: VP_FREE_THREADED names no free-threaded Python")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"), PYTHON)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"), wheel, PYTHON)


def test_its_wheel_says_so(wheel):
    assert re.search(r"-cp3(\d+)-cp3\1t-", wheel.name), wheel.name


def test_the_lock_stays_off(installed):
    said = installed.said(installed.python, "-W", "error", "-c", "import sys, view_profile as vp\nwith vp.annotate('a', b=1): pass\nprint(sys._is_gil_enabled())")
    assert said == "False\n"


STRESS = """
import sys, threading, view_profile as vp
THREADS, ZONES = 8, 100_000
shared, changing = vp.annotate("shared"), vp.annotate("changing", **{f"k{i}": i for i in range(9)})
ready = threading.Barrier(THREADS)
def work(t):
    mine = f"thread {t}"
    ready.wait()
    for i in range(ZONES):
        with vp.annotate("every" if i % 2 else mine):
            pass
        if i % 100 == 0:
            with vp.annotate("with args", i=i, text=mine), vp.annotate(f"made {i % 3000}"), shared, shared:
                pass
            with changing:
                changing.args[f"k{i % 9}"] = changing.args.pop(f"k{i % 7}", t)
p = vp.profile(sys.argv[1], "native", pool_bytes=256 << 20).start()
threads = [threading.Thread(target=work, args=(t,)) for t in range(THREADS)]
[t.start() for t in threads]
[t.join() for t in threads]
p.stop()
rare = THREADS * ZONES // 100
assert p.zones == THREADS * ZONES + 5 * rare, p.zones
rows = {o.name: o.calls for o in vp.top(sys.argv[1], n=5000, where="host").ops}
assert rows["every"] == THREADS * ZONES // 2 and all(rows[f"thread {t}"] == ZONES // 2 for t in range(THREADS)), rows
assert rows["with args"] == rows["changing"] == rare and rows["shared"] == 2 * rare
assert sum(calls for name, calls in rows.items() if name.startswith("made ")) == rare and sum(name.startswith("made ") for name in rows) == 30
"""


def test_every_zone_of_all_threads_is_recorded(installed, tmp_path):
    installed.said(installed.python, "-c", STRESS, tmp_path)


OTHERS = """
import sys, threading, view_profile as vp
from view_profile import _native
class Zone: # of another profiler
    def __init__(self, name, **args): self.open = 0
    def __enter__(self): self.open += 1
    def __exit__(self, *e): assert self.open == 1
shared = vp.annotate("shared", a=1)
done = threading.Event()
def work():
    while not done.is_set():
        with shared, vp.annotate("own"), shared:
            pass
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
for i in range(3000):
    _native.jax(type("Zone", (Zone,), {}), [lambda: True, lambda: False][i % 2])
    _native.others(i % 3 > 0)
    _native.log([None, print][i % 2])
done.set()
[t.join() for t in threads]
"""


def test_other_profilers_come_and_go(installed):
    """Under zones that are open, one of them in all threads at once."""
    installed.said(installed.python, "-c", OTHERS)


def test_a_fork_of_threads(installed, tmp_path):
    installed.said(installed.python, "-W", "ignore", "-c", """
import multiprocessing, sys, threading, view_profile as vp
def work(n):
    for i in range(n):
        with vp.annotate("thread"):
            pass
fork = multiprocessing.get_context("fork")
with vp.profile(sys.argv[1], "native") as p:
    threads = [threading.Thread(target=work, args=(20_000,)) for _ in range(4)]
    [t.start() for t in threads]
    for i in range(5):
        child = fork.Process(target=work, args=(10,))
        child.start()
        child.join()
        assert child.exitcode == 0
    [t.join() for t in threads]
assert p.zones == 80_000, p.zones
""", tmp_path)
