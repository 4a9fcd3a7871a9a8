"""The Python package as it was built, for tests: its directory, and how a program of it is run."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("VP_BUILD") or ROOT / "build" / "asan")
PACKAGE = BUILD / "python"
RELEASED = ROOT / "build" / "release"  # beside frameworks, which no sanitizer is built for


def environment(build=BUILD, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    env |= {"PYTHONPATH": str(build / "python"), "VIEW_PROFILE_PROGRAM": str(build / "view_profile"), **more}
    if "asan" in build.name:  # must be loaded before Python; and Python leaks on purpose
        library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
        env |= {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"}
    return env


def run_python(source, *args, python=sys.executable, cwd=None, check=True, **more):
    """Runs a text, or the file of a path."""
    program = [str(source)] if isinstance(source, pathlib.Path) else ["-c", source]
    done = subprocess.run([python, *program, *map(str, args)], env=environment(**more), cwd=cwd, capture_output=True,
                          text=True, timeout=300)
    assert not check or done.returncode == 0, done.stderr
    return done
