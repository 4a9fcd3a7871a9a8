"""What type checkers know of the Python package: its stubs say what is there when it runs, and mypy takes a program that uses it
rightly and refuses what is wrong."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from python_front import RELEASED, environment  # noqa: E402

pytest.importorskip("mypy", reason="SKIPPED: mypy is not installed")
pytestmark = pytest.mark.skipif(not (RELEASED / "python" / "view_profile").is_dir(), reason="SKIPPED: no headers of Python 3.10 or later")
PRIVATE = sorted(p.stem for p in (ROOT / "python" / "view_profile").glob("_[a-z]*.py"))


def mypy(tmp_path, module, *args):
    """The lines that it says of what is public. The modules behind it are no interface, and have no types."""
    config = tmp_path / "mypy.ini"
    config.write_text(f"[mypy]\nignore_missing_imports = True\n[mypy-{','.join(f'view_profile.{m}' for m in PRIVATE)}]\nignore_errors = True\n")
    option = "--mypy-config-file" if module == "mypy.stubtest" else "--config-file"
    done = subprocess.run([sys.executable, "-m", module, option, config, *args], cwd=tmp_path, capture_output=True, text=True,
                          env=environment(RELEASED, MYPYPATH=str(RELEASED / "python")))
    assert done.returncode in (0, 1) and not done.stderr, done.stderr + done.stdout
    return [line for line in done.stdout.splitlines() if not line.startswith("view_profile._")]


def test_stubs_say_what_is_there(tmp_path):
    assert mypy(tmp_path, "mypy.stubtest", "--concise", "view_profile") == []


USED = """
import pathlib
import view_profile as vp
from view_profile.testing import assert_no_regression

@vp.annotate("forward", batch=8)
def forward(x: float) -> float:
    return x

@vp.annotate("coroutine")
async def coroutine() -> int:
    return 1

config = vp.ProfilerConfig(enable_profiling=True, backend="native")

class Task(vp.ProfilerMixin):
    config = config

def train(task: Task, state: int) -> float:
    with task.profile_context(state, "train_step"), vp.step("train", state), vp.annotate("zone"):
        return task.profile_fn(lambda: forward(1.0), state)

def loop(batches: list[str]) -> None:
    with vp.Profiler(5, "profiles", auto_enable_at_step=150, backend=("jax", "native")) as p:
        for i, batch in vp.callbacks.Loop(batches, log_dir="profiles"):
            p.begin_step(i)
            print(batch.upper())
            p.end_step(7)

with vp.profile(pathlib.Path("profiles")) as profile:
    pass
slowest: list[str] = [f"{op.name} {op.self_ps + 1} {op.self_seconds}" for op in vp.top("profiles", n=3).ops]
told: list[str] = [f.message for f in vp.findings("profiles")]
gate: bool = assert_no_regression("a", "b").regressed
run: str | None = profile.run
reveal_type(forward)
reveal_type(coroutine)
reveal_type(vp.run_with_jax_profiler(lambda: 5, "a", "b"))
"""
WRONG = ["vp.annotate(1)", "vp.step('train', '1')", "vp.Profiler(num_step=5)", "vp.top('p').ops[0].self_millis", "vp.profile('p', sync=1)",
         "vp.compare('a')", "forward('text')", "vp.nothing"]


def test_programs_are_checked(tmp_path):
    (tmp_path / "used.py").write_text(USED + "".join(f"{line}\n" for line in WRONG))
    said = mypy(tmp_path, "mypy", "--strict", "--no-error-summary", "used.py")
    first = len(USED.splitlines()) + 1
    errors = [int(re.match(r"used\.py:(\d+): error", line)[1]) for line in said if ": error:" in line]
    assert sorted(set(errors)) == list(range(first, first + len(WRONG))), said
    revealed = [line.split('"')[1] for line in said if "Revealed type" in line]
    assert revealed[0] == "def (x: float) -> float" and revealed[2] == "tuple[int, str]" and "Coroutine[Any, Any, int]" in revealed[1], revealed
