"""The Python package as it was built, for tests: its directory, and how a program of it is run."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("VP_BUILD") or ROOT / "build" / "asan")
PACKAGE = BUILD / "python"
PYTHON = os.environ.get("VP_TEST_PYTHON") or sys.executable  # another machine's, where its extension was built
RELEASED = ROOT / "build" / "release"  # beside frameworks, which no sanitizer is built for


def environment(build=BUILD, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    env |= {"PYTHONPATH": str(build / "python"), "VIEW_PROFILE_PROGRAM": str(build / "view_profile"), **more}
    if "asan" in build.name:  # must be loaded before Python; and Python leaks on purpose
        library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
        env |= {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"}
    return env


def run_python(source, *args, python=PYTHON, cwd=None, check=True, **more):
    """Runs a text, or the file of a path."""
    program = [str(source)] if isinstance(source, pathlib.Path) else ["-c", source]
    done = subprocess.run([python, *program, *map(str, args)], env=environment(**more), cwd=cwd, capture_output=True,
                          text=True, timeout=300)
    assert not check or done.returncode == 0, done.stderr
    return done


class Installed:
    """A Python that has nothing, and a wheel of these sources in it."""

    def __init__(self, at, wheel, python=sys.executable):
        self.prefix, self.dir = at / "venv", at
        subprocess.run([python, "-m", "venv", self.prefix], check=True)
        self.python = self.prefix / "bin" / "python"
        subprocess.run([self.python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], check=True)
        self.env = {"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(at)}

    def run(self, *argv, check=True, **more):
        return subprocess.run(list(map(str, argv)), **{"env": self.env, "capture_output": True, "text": True, "check": check, "cwd": self.dir} | more)

    def said(self, *argv, **more):
        return self.run(*argv, **more).stdout


def build_wheel(at, python=sys.executable):
    subprocess.run([python, "-m", "pip", "wheel", "-q", "--no-deps", "--disable-pip-version-check", "-w", at / "dist", "-C", f"build-dir={at / 'build'}", ROOT],
                   check=True)
    wheel, = (at / "dist").glob("view_profile-*.whl")
    return wheel
