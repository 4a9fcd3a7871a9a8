"""Where the real files and the programs under test are."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = pathlib.Path(os.environ.get("VP_TRACES", ROOT / ".." / "shared" / "traces")).resolve()
SKIP = f"SKIP: no real traces at {TRACES} (set VP_TRACES)"


def tool(name):
    """A built test program: VP_BUILD, else the newest of the presets' build folders."""
    if "VP_BUILD" in os.environ:
        return pathlib.Path(os.environ["VP_BUILD"]) / "tests" / name
    built = sorted((ROOT / "build").glob(f"*/tests/{name}"), key=lambda p: p.stat().st_mtime)
    assert built, f"{name} is not built: cmake --preset dev && cmake --build build/dev"
    return built[-1]


def run(*argv, stdin=None):
    """stdout and stderr of a program that must succeed."""
    done = subprocess.run([str(a) for a in argv], input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, (argv, done.returncode, done.stderr.decode("utf-8", "replace"))
    return done.stdout, done.stderr


def view_profile(*args, check=True, **kwargs):
    """Runs the program (VIEW_PROFILE, else the newest build) and returns the CompletedProcess, text."""
    program = os.environ.get('VIEW_PROFILE') or next(
        (str(p) for p in (ROOT / 'build' / 'asan' / 'view_profile', ROOT / 'build' / 'dev' / 'view_profile',
                          ROOT / 'build' / 'release' / 'view_profile') if p.exists()), 'view_profile')
    return subprocess.run([program, *args], capture_output=True, text=True, check=check, **kwargs)
