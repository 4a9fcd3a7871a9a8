"""An installed copy: the C example builds against it with pkg-config alone, serves, and ends on
Ctrl-C; the library exports its API and nothing else."""
import os
import re
import select
import shutil
import signal
import subprocess
import urllib.request

import pytest

from conftest import ROOT
from installation import build_dir, environment, installed, run  # noqa: F401
from recording import ADAPTERS, nvtx_headers, runs, steps
from test_serve import assert_serves_bare

WAIT = 60


@pytest.fixture(scope="module")
def example(installed, environment, tmp_path_factory):
    out = tmp_path_factory.mktemp("example") / "open_latest"
    flags = run("pkg-config", "--cflags", "--libs", "view_profile",
                env=environment).split()
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic",
        ROOT / "examples" / "open_latest.c", *flags, "-o", out)
    return out


def test_what_is_installed(installed):
    files = {str(p.relative_to(installed)) for p in installed.rglob("*") if not p.is_dir()}
    for name in ["bin/view_profile", "libexec/view_profile/view_profile-fetch",
                 *(f"include/{p.name}" for p in (ROOT / "include").glob("*.h*")),
                 "share/bash-completion/completions/view_profile",
                 "share/zsh/site-functions/_view_profile", "share/view_profile/skills/slow-step/SKILL.md",
                 "share/view_profile/report.schema.json",
                 "lib/systemd/system/view_profile.service", "lib/systemd/system/view_profile.socket",
                 "lib/systemd/system/view_profile-watch@.service"]:
        assert name in files
    for adapter in ADAPTERS:
        assert any(re.fullmatch(rf"lib/.*lib{adapter}\.so", f) for f in files)
    assert any(re.fullmatch(r"lib/.*libview_profile\.so\.\d+\.\d+\.\d+", f) for f in files)


def test_the_bare_program_serves(installed, place):
    assert_serves_bare(installed / "bin" / "view_profile", place.traces / "jax_cpu" / "three_runs", place.env)


def test_a_start_loads_little(installed):
    """libarchive and libmicrohttpd bring twenty libraries; they are loaded by what needs them."""
    loaded = run(installed / "bin" / "view_profile", "--version", env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"})
    names = {line.split()[0].split(".so")[0] for line in loaded.splitlines() if ".so" in line}
    assert "libc" in names
    assert not names & {"libarchive", "libmicrohttpd", "libgnutls", "libxml2", "libicudata", "libcurl", "libcrypto"}


def test_units_are_valid_and_hardened(installed, tmp_path):
    """As systemd reads them, with the installed program in its place; the exposure is systemd's own
    judgement, from 0 (nothing) to 10 (everything)."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("SKIPPED: no systemd-analyze here")
    units = installed / "lib" / "systemd" / "system"
    for unit in units.iterdir():
        text = unit.read_text()
        assert "@" not in re.sub(r"(?m)^#.*|@system-service|@privileged|@resources", "", text)
        (tmp_path / unit.name).write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={installed}/bin/view_profile", text))
    names = [str(tmp_path / name) for name in ("view_profile.service", "view_profile.socket", "view_profile-watch@jobs.service")]
    (tmp_path / "view_profile-watch@.service").rename(names[2])
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *names], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for name, most in ((names[0], 1.0), (names[2], 1.5)):  # a watch connects to other machines
        rated = run("systemd-analyze", "security", "--offline=true", "--no-pager", name)
        assert float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", rated).group(1)) <= most


def test_headers_are_c_and_cpp(installed):
    for compiler, standard in (("cc", "c99"), ("c++", "c++11")):
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler}")
        for header in ("view_profile.h", "view_profile_report.h", "view_profile_status.h", "view_profile_capture.h",
                       "view_profile_nvtx_compat.h", "view_profile_stub.h"):
            run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x",
                "c" if compiler == "cc" else "c++", installed / "include" / header)


def test_only_the_api_is_exported(installed):
    library = next(installed.rglob("libview_profile.so"))
    names = re.findall(r" [B-TV-Z] (\w+)$", run("nm", "-D", "--defined-only", "--without-symbol-versions", library), re.M)
    assert "open_latest_profile" in names and "vp_report_make" in names
    assert [n for n in names if not re.fullmatch(r"vp_\w+|VP_\w+|open_latest_profile", n)] == []


def test_every_declared_function_is_exported(installed):
    library = next(installed.rglob("libview_profile.so"))
    exported = run("nm", "-D", "--defined-only", "--without-symbol-versions", library)
    declared = set()
    for header in (installed / "include").glob("*.h"):
        declared |= set(re.findall(r"^VP_API[^;(]*?\b(\w+)\(", header.read_text(), re.M))
    assert len(declared) > 15
    assert [n for n in declared if not re.search(rf" T {n}$", exported, re.M)] == []


def test_the_installed_program_finds_its_recorder(installed, tmp_path):
    app = tmp_path / "nvtx_app"
    run("cc", "-O1", ROOT / "examples" / "nvtx_app.c", f"-I{nvtx_headers()}", "-ldl", "-o", app)
    done = subprocess.run([installed / "bin" / "view_profile", "record", "--steps", "2:3", "--", app,
                           "8"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (recorded,) = runs(tmp_path / "profiles")
    assert steps(recorded) == [2, 3, 4]


def test_the_adapters_export_what_others_look_for(installed):
    library = next(installed.rglob("libview_profile_nvtx.so"))
    names = [line.split()[-1] for line in
             run("nm", "-D", "--defined-only", "--without-symbol-versions", library).splitlines()]
    assert names == ["InitializeInjectionNvtx2"]


def test_exports_are_declared(installed):
    """Nothing internal leaks under a public prefix."""
    library = next(installed.rglob("libview_profile.so"))
    text = "".join(h.read_text() for h in (installed / "include").glob("*.h"))
    names = re.findall(r" T (\w+)$", run("nm", "-D", "--defined-only", "--without-symbol-versions", library), re.M)
    assert [n for n in names if not re.search(rf"\b{n}\(", text)] == []


def test_example_serves_until_interrupted(example, environment, place):
    env = {**environment, "BROWSER": "/bin/true"}
    env.pop("SSH_CONNECTION", None)
    process = subprocess.Popen([example, place.traces / "jax_cpu" / "three_runs"], env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        ready, _, _ = select.select([process.stdout, process.stderr], [], [], WAIT)
        assert ready, "no address in time"
        line = ready[0].readline().decode()
        url = re.search(r"http://\S+", line).group(0)
        with urllib.request.urlopen(url, timeout=WAIT) as answer:
            assert answer.status == 200
            assert "2026_11_21_06_34_02" in answer.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 0
    finally:
        process.kill()
        process.communicate()


def test_example_names_what_is_missing(example, environment, tmp_path):
    done = subprocess.run([example, tmp_path / "nothing"], env=environment, capture_output=True,
                          text=True, timeout=WAIT)
    assert done.returncode == 1
    assert str(tmp_path / "nothing") in done.stderr
