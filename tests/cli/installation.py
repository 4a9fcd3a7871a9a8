"""Fixtures: an installed copy of the program under test, and of the recorder that is configured alone. Imported by name."""
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import ROOT
from emulated import is_emulated


def run(*args, **more):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def build_dir(program):
    """The build directory of the program under test, with its shared library."""
    build = pathlib.Path(program).parent
    if not (build / "CMakeCache.txt").exists():
        pytest.skip(f"{program} does not lie in a build directory: nothing to install from")
    cache = (build / "CMakeCache.txt").read_text()
    if "VP_TESTS:BOOL=ON" in cache:  # there the core shows every symbol to the tests
        other = ROOT / "build" / ("release-aarch64" if is_emulated() else "release")
        run("cmake", "-S", ROOT, "-B", other, "--preset", "release")
        build = other
    run("cmake", "--build", build, "-j2")
    return build


@pytest.fixture(scope="module")
def installed(build_dir, tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build_dir, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def environment(installed):
    pc = next(installed.rglob("view_profile.pc"))
    # The prefix is not the configured one: pkg-config takes it from where the file lies.
    return {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "LD_LIBRARY_PATH": str(pc.parent.parent)}


def copy_sources(to):
    """What a tree of sources holds, without what was built: two builds of it lie in two places."""
    names = [n for n in run("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines() if (ROOT / n).is_file()]
    for name in names:
        if name.split("/")[0] in ("CMakeLists.txt", "LICENSE", "include", "scripts", "trace", "python", "server", "web", "docs", "contrib"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def build_recorder(at):
    """The recorder alone, where pkg-config finds nothing: its prefix."""
    source, build, prefix = copy_sources(at / "source"), at / "build", at / "prefix"
    env = {**os.environ, "PKG_CONFIG_LIBDIR": str(at), "PKG_CONFIG_PATH": "", "CCACHE_DISABLE": "1"}  # a cache would hide what a place changes
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DVP_CAPTURE_ONLY=ON", "-DVP_STATIC=ON",
        "-DVP_WERROR=ON", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_C_FLAGS=-g", env=env)  # -g says where it was built, if anything does
    run("cmake", "--build", build, "-j2", env=env)
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="session")
def recorder_alone(tmp_path_factory):
    return build_recorder(tmp_path_factory.mktemp("recorder"))
