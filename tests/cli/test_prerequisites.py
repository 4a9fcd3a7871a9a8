"""What CMake reports if packages are missing, for cmake as for pip: all of them at once, and how to install them."""
import os
import re
import shutil
import subprocess

import pytest
from traces import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("pkg-config"), reason="SKIPPED: no cmake or pkg-config here")
REQUIRED = {"libmicrohttpd-dev", "libarchive-dev", "libjansson-dev"}
OPTIONAL = {"libcurl4-openssl-dev", "libssl-dev", "libisal-dev"}


def configure(tmp_path, *options, **env):
    return subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path / "build", *options], capture_output=True, text=True,
                          env={**os.environ, "CMAKE_C_COMPILER_LAUNCHER": "", **env})


def modules_without(tmp_path, *names):
    """A directory with all files of pkg-config but these."""
    folder = tmp_path / "pkgconfig"
    folder.mkdir()
    paths = subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"], capture_output=True, text=True, check=True).stdout
    for path in paths.strip().split(":"):
        for name in os.listdir(path) if os.path.isdir(path) else []:
            if name.removesuffix(".pc") not in names and not (folder / name).exists():
                (folder / name).symlink_to(os.path.join(path, name))
    return str(folder)


def packages(message, line):
    return set(re.search(rf"{line} install (.*)", message)[1].split())


def test_all_missing_packages_are_reported_at_once(tmp_path):
    done = configure(tmp_path, PKG_CONFIG_LIBDIR=modules_without(tmp_path, "libmicrohttpd", "libarchive", "jansson", "libcurl", "libcrypto", "libisal"))
    assert done.returncode == 1
    assert "packages missing: libmicrohttpd >= 0.9.75, libarchive, jansson\n" in done.stderr
    assert packages(done.stderr, "apt-get") == REQUIRED | OPTIONAL
    assert packages(done.stderr, "dnf") == {"libmicrohttpd-devel", "libarchive-devel", "jansson-devel", "libcurl-devel", "openssl-devel", "isa-l-devel"}
    assert "Optional of these: libcurl >= 7.85, libcrypto, libisal\n" in done.stderr
    assert "scripts/wheel" in done.stderr and "Call Stack" not in done.stderr


def test_only_what_is_missing_is_reported(tmp_path):
    done = configure(tmp_path, PKG_CONFIG_LIBDIR=modules_without(tmp_path, "jansson"))
    assert done.returncode == 1 and "packages missing: jansson\n" in done.stderr
    assert packages(done.stderr, "apt-get") >= {"libjansson-dev"} and not packages(done.stderr, "apt-get") & (REQUIRED - {"libjansson-dev"})


def test_a_missing_compiler_is_reported_with_the_libraries(tmp_path):
    (tmp_path / "bin").mkdir()
    for tool in ("cmake", "make", "uname"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    done = configure(tmp_path, "-G", "Unix Makefiles", PATH=str(tmp_path / "bin"), CC="", PKG_CONFIG_LIBDIR=modules_without(tmp_path, "libarchive"))
    assert done.returncode == 1 and "packages missing: a C compiler, libarchive\n" in done.stderr, done.stderr
    assert packages(done.stderr, "apt-get") >= {"build-essential", "libarchive-dev"}


def test_the_recorder_needs_zlib_only(tmp_path):
    done = configure(tmp_path, "-DVP_CAPTURE_ONLY=ON", PKG_CONFIG_LIBDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_the_packages_are_those_that_setup_installs():
    """scripts/prerequisites.cmake and scripts/setup list the same packages of Debian."""
    listed = re.search(r"run_packages=\((.*?)\)", (ROOT / "scripts" / "setup").read_text(), re.S)[1].split()
    rows = re.findall(r'"[^"|]+\|([^"|]+)\|[^"|]+"', (ROOT / "scripts" / "prerequisites.cmake").read_text())
    assert set(rows) - {"python3-dev"} == set(listed) - {"cmake", "ninja-build"}
