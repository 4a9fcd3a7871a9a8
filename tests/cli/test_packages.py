"""Libraries for other people's builds: what they export, CMake packages, static libraries, add_subdirectory, the recorder
alone; and that two builds in two places are the same bytes."""
import os
import re
import subprocess

import pytest

from conftest import ROOT
from installation import build_dir, build_recorder, copy_sources, installed, recorder_alone, run  # noqa: F401
from recording import runs, steps

RECORDS = """
#include <view_profile_capture.h>
int main(void)
{
    VP_PROFILE_SCOPE("profiles");
    for (uint64_t i = 0; i < 3; i++) {
        VP_STEP("train", i);
    }
    return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(uses C)
{find}
add_executable(uses main.c)
target_link_libraries(uses PRIVATE {target})
"""


def listed(who):
    lines = [line.split() for line in (ROOT / "scripts" / "exports").read_text().splitlines() if line[0] != "#"]
    return sorted(name for owner, name in lines if owner in (who, "both"))


def exported(library):
    """Names with their version, which is @@VERSION where a program that is linked now gets it."""
    return sorted(line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines() if " A " not in line)


@pytest.mark.parametrize("library,who", [("libview_profile.so", "viewer"), ("libview_profile_capture.so", "recorder")])
def test_exports_are_those_of_the_list(installed, library, who):
    assert exported(next(installed.rglob(library))) == [f"{name}@@VIEW_PROFILE_0" for name in listed(who)]


def test_a_static_library_shows_its_interface_alone(recorder_alone):
    names = re.findall(r"^\w+ [A-TV-Z] (\w+)$", run("nm", "-g", "--defined-only", recorder_alone / "lib" / "libview_profile_capture.a"), re.M)
    assert sorted(names) == listed("recorder")


def build_user(at, find, target, prefix, text=RECORDS, check=True):
    at.mkdir()
    (at / "CMakeLists.txt").write_text(PROJECT.format(find=find, target=target))
    (at / "main.c").write_text(text)
    done = subprocess.run(["cmake", "-S", at, "-B", at / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)
    if check:
        assert done.returncode == 0, done.stderr
        run("cmake", "--build", at / "build")
    return done


def recorded_by(at):
    run(at / "build" / "uses", cwd=at)
    (recorded,) = runs(at / "profiles")
    return steps(recorded)


@pytest.mark.parametrize("part,target", [("", "view_profile::capture"), ("COMPONENTS static", "view_profile::capture_static")])
def test_find_package_of_the_recorder(recorder_alone, tmp_path, part, target):
    """From another place than it was installed to."""
    moved = tmp_path / "moved"
    moved.symlink_to(recorder_alone)
    build_user(tmp_path / "app", f"find_package(view_profile_capture 0.1 REQUIRED {part})", target, moved)
    assert sorted(recorded_by(tmp_path / "app")) == [0, 1, 2]
    needed = run("readelf", "-d", tmp_path / "app" / "build" / "uses")
    assert ("libview_profile_capture.so.0" in needed) == (not part)


def test_find_package_of_the_viewer(installed, tmp_path):
    build_user(tmp_path / "app", "find_package(view_profile REQUIRED COMPONENTS viewer capture)", "view_profile::view_profile", installed,
               '#include <view_profile.h>\n#include <stdio.h>\nint main(void) { puts(vp_version()); return 0; }\n')
    assert run(tmp_path / "app" / "build" / "uses") == "0.1.0\n"


@pytest.mark.parametrize("find,says", [
    ("find_package(view_profile_capture 0.1 REQUIRED COMPONENTS viewer)", "no component viewer is installed"),
    ("find_package(view_profile_capture 9 REQUIRED)", "version"),
])
def test_what_is_not_there_is_said(recorder_alone, tmp_path, find, says):
    done = build_user(tmp_path / "app", find, "view_profile::capture", recorder_alone, check=False)
    assert done.returncode != 0 and says in done.stderr


def test_pkg_config_links_it_statically(recorder_alone, tmp_path):
    env = {**os.environ, "PKG_CONFIG_PATH": str(recorder_alone / "lib" / "pkgconfig")}
    (tmp_path / "main.c").write_text(RECORDS)
    flags = run("pkg-config", "--cflags", "--libs", "--static", "view_profile_capture", env=env).split()
    run("cc", tmp_path / "main.c", "-Wl,-Bstatic", *[f for f in flags if f.startswith(("-I", "-L", "-lview"))], "-Wl,-Bdynamic",
        *[f for f in flags if not f.startswith(("-I", "-L", "-lview"))], "-o", tmp_path / "uses")
    run(tmp_path / "uses", cwd=tmp_path)
    assert sorted(steps(runs(tmp_path / "profiles")[0])) == [0, 1, 2]


def test_the_recorder_alone_needs_zlib_and_the_c_library(recorder_alone):
    library = recorder_alone / "lib" / "libview_profile_capture.so"
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library)))
    assert needed <= {"libz.so.1", "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert not list((recorder_alone).rglob("bin/*")) and not list(recorder_alone.rglob("view_profile.h"))


def test_add_subdirectory(tmp_path):
    """As a part of another project, whose settings it leaves alone and where it installs nothing unasked."""
    copy_sources(tmp_path / "ours")
    find = "set(VP_CAPTURE_ONLY ON)\nset(CMAKE_C_STANDARD 99)\nadd_subdirectory(../ours ours EXCLUDE_FROM_ALL)"
    build_user(tmp_path / "app", find, "view_profile::capture", "")
    assert sorted(recorded_by(tmp_path / "app")) == [0, 1, 2]
    run("cmake", "--install", tmp_path / "app" / "build", "--prefix", tmp_path / "prefix")
    assert not list(tmp_path.glob("prefix/*"))


def files(prefix):
    return {str(p.relative_to(prefix)): p.read_bytes() for p in prefix.rglob("*") if p.is_file()}


def test_two_builds_are_the_same_bytes(recorder_alone, tmp_path):
    other = files(build_recorder(tmp_path / "a longer place" / "than the other"))
    first = files(recorder_alone)
    assert first.keys() == other.keys()
    assert [name for name in first if first[name] != other[name]] == []
