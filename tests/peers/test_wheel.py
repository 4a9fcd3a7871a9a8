"""The wheel to distribute (scripts/wheel): its tag and metadata are true, it runs from a new environment, and in a root that has only a
C library, a shell and Python. VP_WHEEL names a wheel; else one is built, which takes four minutes of a processor, or seconds if
build/wheel-* has its libraries."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import BytesParser

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from test_serve import assert_serves_bare  # noqa: E402

NO_DOWNLOAD = 3  # scripts/wheel: no network, or no Debian
# Of a C library; everything else lies in the wheel.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
BARE = ["libc6", "dash", "python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libexpat1", "zlib1g"]


def run(*args, **more):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if os.environ.get("VP_WHEEL"):
        return pathlib.Path(os.environ["VP_WHEEL"])
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "scripts" / "wheel", out], capture_output=True, text=True)
    if done.returncode == NO_DOWNLOAD:
        pytest.skip("SKIPPED: " + done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = out.glob("*-abi3-*.whl")
    return found


@pytest.fixture(scope="module")
def binary(wheel):
    """The one without the package."""
    found = wheel.with_name(re.sub(r"cp310-abi3", "py3-none", wheel.name))
    assert found.exists()
    return found


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    at = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(at)
    return [p for p in at.rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]


def test_without_network_it_reports_what_cannot_be_downloaded(tmp_path):
    env = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null", "VP_WHEEL_BUILD": str(tmp_path / "build")}
    done = subprocess.run([ROOT / "scripts" / "wheel", tmp_path / "dist"], capture_output=True, text=True, env=env)
    assert done.returncode == NO_DOWNLOAD, done.stderr
    assert done.stderr.splitlines()[-1] == "scripts/wheel: cannot install the compiler from PyPI (scripts/requirements-wheel.txt)"


def test_it_reports_missing_packages_at_once(tmp_path):
    """And --help lists all that it may report."""
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "env", "dirname", "realpath", "uname", "sed", "cmake"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    env = {**os.environ, "PATH": str(tmp_path / "bin"), "VP_WHEEL_MACHINE": "x86_64"}
    done = subprocess.run([ROOT / "scripts" / "wheel", "--check"], capture_output=True, text=True, env=env)
    packages = ["ninja-build", "pkg-config", "make", "perl", "dpkg-dev", "python3-venv", "python3-dev", "nasm"]
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"scripts/wheel: packages missing: {' '.join(packages)}\n  Debian, Ubuntu:  apt-get install {' '.join(packages)}\n"
    done = subprocess.run([ROOT / "scripts" / "wheel", "--help"], capture_output=True, text=True, env=env)
    assert done.returncode == 0 and {"cmake", *packages} <= set(re.findall(r"[\w-]+", done.stdout))


def test_pip_reports_missing_packages(wheel, tmp_path):
    """What a user of `pip install .` reads; tests/cli/test_prerequisites.py has the cases."""
    venv = pathlib.Path(os.environ.get("VP_WHEEL_BUILD", ROOT / "build" / f"wheel-{platform.machine()}")) / "venv"
    if not (venv / "bin" / "pip").exists():
        pytest.skip("SKIPPED: scripts/wheel has not run here, whose environment has scikit-build-core")
    done = subprocess.run([venv / "bin" / "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, "-C", f"build-dir={tmp_path}/build", ROOT],
                          capture_output=True, text=True, env={**os.environ, "PKG_CONFIG_LIBDIR": str(tmp_path)})
    assert done.returncode == 1
    printed = done.stdout + done.stderr
    assert "packages missing: libmicrohttpd >= 0.9.75, libarchive, jansson\n" in printed, printed
    assert "apt-get install libmicrohttpd-dev libarchive-dev libjansson-dev" in printed and "scripts/wheel" in printed


def test_its_metadata_is_ready_for_pypi(wheel, binary):
    """scripts/wheel has run `twine check --strict`, which renders the description."""
    for path in (wheel, binary):
        with zipfile.ZipFile(path) as packed:
            (name,) = [n for n in packed.namelist() if n.endswith(".dist-info/METADATA")]
            fields = BytesParser().parsebytes(packed.read(name))
            assert any(n.endswith(".dist-info/licenses/LICENSE") for n in packed.namelist())
        assert (fields["Name"], fields["Version"], fields["License-Expression"]) == ("view-profile", "0.1.0", "Apache-2.0")
        assert fields["Description-Content-Type"].startswith("text/markdown")
        assert 20 < len(fields["Summary"]) <= 120 and "Operating System :: POSIX :: Linux" in fields.get_all("Classifier")
        assert not [c for c in fields.get_all("Classifier") if c.startswith("License ::")]  # the expression replaces them
        description = fields.get_payload()
        # PyPI has none of the repository's files.
        assert not re.findall(r"!?\[[^\]]*\]\((?!https?://)[^)]*\)", description)
        assert "scripts/run" not in description and "pip install view-profile" in description
        for heading in ("# view_profile", "## Install", "## What it reads", "## Limits"):
            assert f"\n{heading}\n" in f"\n{description}"
        assert "view_profile findings" in description


def test_its_tag_is_true(wheel, programs):
    """By what each file asks of the C library, and that every other library it needs lies in the wheel."""
    machine = re.search(r"-cp310-abi3-manylinux_2_28_(\w+)\.whl$", wheel.name)[1]
    names = {p.name for p in programs}
    assert {"view_profile", "view_profile-fetch", "libview_profile.so", "libview_profile_capture.so", "libarchive.so.13",
            "libmicrohttpd.so.12", "_native.abi3.so"} <= names
    for p in programs:
        assert {"x86_64": "X86-64", "aarch64": "AArch64"}[machine] in run("readelf", "-h", p)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", p)))
        assert needed <= SYSTEM | names, p.name
        asked = [int(v) for v in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-V", p))]
        assert max(asked, default=0) <= 28 and "GLIBC_ABI_DT_RELR" not in run("readelf", "-V", p), p.name
        # A weak symbol of a later C library would have no version, and no definition.
        free = re.findall(r" (?:FUNC|NOTYPE)\s+GLOBAL\s+DEFAULT\s+UND (\w+)$", run("readelf", "--dyn-syms", "-W", p), re.M)
        assert p.name == "_native.abi3.so" or not free, (p.name, free)


def test_that_of_the_programs_alone(wheel, binary):
    """What the other has, byte by byte, but for the package, and what it says of itself is so."""
    with zipfile.ZipFile(wheel) as a, zipfile.ZipFile(binary) as b:
        there, here = ({n: z.read(n) for n in z.namelist() if not n.endswith("/")} for z in (a, b))
    info = "view_profile-0.1.0.dist-info"
    own = {f"{info}/{n}" for n in ("WHEEL", "METADATA", "RECORD")}
    assert {n for n in there if n not in here} == {n for n in there if n.startswith("view_profile/")} | {f"{info}/entry_points.txt"}
    assert here.keys() <= there.keys() and {n for n in here if here[n] != there[n]} == own
    machine = re.search(r"manylinux_2_28_(\w+)\.whl$", binary.name)[1]
    assert re.findall(rb"^Tag: (.*)$", here[f"{info}/WHEEL"], re.M) == [f"py3-none-manylinux_2_28_{machine}".encode()]
    assert b"\nRequires-Python: >=3.6,<3.10\n" in here[f"{info}/METADATA"]
    assert not [n for n in here if n.endswith("abi3.so")]


OLDER = sorted(p for p in pathlib.Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python"))


def test_an_older_python_takes_that(wheel, binary, tmp_path):
    """And does not take the other, which this Python prefers: each finds one of the two, with the recorder's hook for programs."""
    own(wheel)
    if not OLDER:
        pytest.skip("SKIPPED: no Python before 3.10 here")
    seen = None
    for python in OLDER:
        place = tmp_path / python.parts[-3]
        run(python, "-m", "venv", place)
        pip = [place / "bin" / "python", "-m", "pip", "install", "-q", "--no-index", "--find-links", wheel.parent, "--disable-pip-version-check"]
        known = subprocess.run([*pip[:3], "debug", "--verbose"], capture_output=True, text=True)
        if "manylinux_2_28" not in known.stdout:
            continue  # a pip of before PEP 600
        run(*pip, "view-profile")
        env = {"PATH": f"{place}/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
        assert run("view_profile", "--version", env=env).startswith("view_profile 0.1.0")
        assert "dot" in run("view_profile", "top", ROOT / "tests" / "data" / "jax_cpu" / "three_runs", env=env)
        assert not list(place.glob("lib/python3*/site-packages/view_profile"))
        done = subprocess.run(["view_profile", "record", "--dir", place / "q", "--", "python", "-c", "import sys; print('json' in sys.modules)"], env=env,
                              capture_output=True, text=True)
        assert done.stdout == "False\n" and done.returncode == 6 and len(done.stderr.splitlines()) == 1, done
        run(*pip[:4], "-q", "--disable-pip-version-check", "--force-reinstall", "--no-index", binary)  # which pip checks by its RECORD
        refused = subprocess.run([str(a) for a in [*pip, wheel]], capture_output=True, text=True)
        assert refused.returncode and "not a supported wheel" in refused.stderr + refused.stdout, refused
        seen = place
    assert seen
    refused = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--target", tmp_path / "none", binary], capture_output=True, text=True)
    assert refused.returncode and "requires a different Python" in refused.stderr + refused.stdout, refused


def test_nothing_says_where_it_was_built(programs):
    """Nor is anything searched there, because any user can create a directory of that name in /tmp. view_profile-fetch is not checked:
    OpenSSL in it contains its build options, and loads nothing. `record --help` has an example with --dir /tmp/p."""
    said = rb"[^\0]*(?:/tmp/(?!view_profile-|p -- )|wheel/data|" + re.escape(bytes(ROOT)) + rb")[^\0]*"
    assert not {p.name: names for p in programs if p.name != "view_profile-fetch" and (names := re.findall(said, p.read_bytes()))}


def test_the_library_exports_to_others_what_every_build_does(programs):
    """Every name has the library's version, and scripts/exports lists it."""
    (library,) = [p for p in programs if p.name == "libview_profile.so"]
    names = dict(re.findall(r" (?:FUNC|OBJECT|TLS)\s+GLOBAL\s+DEFAULT\s+\d+ (\w+)@@(VIEW_PROFILE_\w+)$", run("readelf", "--dyn-syms", "-W", library), re.M))
    said = [line.split()[1] for line in (ROOT / "scripts" / "exports").read_text().splitlines() if line.startswith(("viewer ", "both "))]
    assert sorted(n for n, version in names.items() if version == "VIEW_PROFILE_0") == sorted(said)
    assert set(names.values()) == {"VIEW_PROFILE_0"}
    defined = re.findall(r" GLOBAL\s+DEFAULT\s+\d+ (\w+)", run("readelf", "--dyn-syms", "-W", library))
    assert set(defined) - {"VIEW_PROFILE_0"} == set(names)


def test_the_licences_of_what_is_inside_are(wheel):
    inside = [n.rpartition("/")[2] for n in zipfile.ZipFile(wheel).namelist() if "/licences/" in n and not n.endswith("/")]
    assert sorted(inside) == sorted(f"{n}.txt" for n in ("curl", "jansson", "libarchive", "libisal", "libmicrohttpd", "libzstd", "nghttp2", "openssl", "zlib"))
    assert all(zipfile.ZipFile(wheel).getinfo(n).file_size > 500 for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".txt") and "/licences/" in n)


def test_it_runs_from_a_new_environment(wheel, tmp_path):
    """As `uvx view_profile` does it. The program on PATH is the executable itself, which starts no Python."""
    own(wheel)
    env = {"PATH": f"{tmp_path}/venv/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run("pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel, env=env)
    assert (tmp_path / "venv" / "bin" / "view_profile").read_bytes()[:4] == b"\x7fELF"
    reports_and_records(env, tmp_path)
    assert_serves_bare(tmp_path / "venv" / "bin" / "view_profile", ROOT / "tests" / "data" / "jax_cpu" / "three_runs", env)


def test_it_runs_from_a_directory_that_it_was_put_into(wheel, tmp_path):
    """--target: pip moves what lies outside of lib, and programs of C find the recorder there, too."""
    own(wheel)
    there = tmp_path / "there"
    run(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", "--target", there, wheel)
    env = {"PATH": f"{there}/bin:{pathlib.Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(there),
           "PKG_CONFIG_PATH": str(there / "share" / "pkgconfig")}
    reports_and_records(env, tmp_path)
    assert run("pkg-config", "--libs", "view_profile_capture", env=env).split() == [f"-L{there}/share/pkgconfig/../../libexec/view_profile",
                                                                                   "-lview_profile_capture"]
    assert (there / "libexec" / "view_profile" / "libview_profile_capture.so").exists()


def own(wheel):
    if platform.machine() not in wheel.name:
        pytest.skip("SKIPPED: of the machine's own wheel")


def reports_and_records(env, tmp_path):
    assert run("view_profile", "--version", env=env).startswith("view_profile 0.1.0")
    assert "dot" in run("view_profile", "top", ROOT / "tests" / "data" / "jax_cpu" / "three_runs", env=env)
    code = 'import view_profile as vp\nwith vp.profile("p"):\n  with vp.annotate("mine"): pass\nprint(vp.top("p").ops[0].name)'
    assert run("python", "-c", code, env=env, cwd=tmp_path) == "mine\n"
    code = 'import view_profile as vp\nwith vp.annotate("recorded"): pass'
    run("view_profile", "record", "--dir", "q", "--", "python", "-c", code, env=env, cwd=tmp_path)
    assert "recorded" in run("view_profile", "top", "q", env=env, cwd=tmp_path)


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    if platform.machine() not in wheel.name or os.geteuid() != 0 or not shutil.which("dpkg-deb"):
        pytest.skip("SKIPPED: a bare root is made by root, of Debian's packages, for the machine's own wheel")
    root, at = tmp_path_factory.mktemp("bare"), tmp_path_factory.mktemp("debs")
    root.chmod(0o755)
    for folder in ("bin", "sbin", "lib", "lib64"):  # as Debian's base-files has them
        (root / "usr" / folder).mkdir(parents=True, exist_ok=True)
        (root / folder).symlink_to(f"usr/{folder}")
    done = subprocess.run(["apt-get", "download", "-qq", *BARE], cwd=at, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"SKIPPED: no packages of a bare root: {done.stderr[-200:]}")
    for package in sorted(at.glob("*.deb")):
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as tar:
            run("tar", "-x", "--keep-directory-symlink", "-C", root, stdin=tar.stdout)
    for folder in ("tmp", "proc", "dev"):
        (root / folder).mkdir()
    (root / "dev" / "null").touch()
    run(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", "--ignore-installed",
        "--prefix", root / "opt", wheel)
    shutil.copytree(ROOT / "tests" / "data" / "jax_cpu" / "three_runs", root / "tmp" / "profiles")
    return root


def inside(root, command, **more):
    site = next((root / "opt").glob("lib/python3*/site-packages"))
    path = f"/opt/lib/{site.parent.name}/site-packages"
    return run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", root, "/bin/sh", "-ec",
               f"export PATH=/opt/bin:/usr/bin HOME=/tmp PYTHONPATH={path}; cd /tmp; {command}", **more)


def test_a_bare_root_has_no_library_of_ours(bare):
    names = {p.name for p in bare.rglob("lib*.so*") if "opt" not in p.relative_to(bare).parts[:1]}
    assert not {n for n in names for word in ("microhttpd", "archive", "jansson", "isal", "curl", "ssl", "crypto", "nghttp2", "zstd") if word in n}


def test_all_of_it_runs_there(bare):
    assert inside(bare, "view_profile --version").startswith("view_profile 0.1.0")
    assert "dot" in inside(bare, "view_profile top profiles")
    assert "noise" in inside(bare, "view_profile compare --format json profiles/plugins/profile/2026_11_21_06_34_00 profiles/plugins/profile/2026_11_21_06_34_02")
    # The extension and the recorder, then the report by its program.
    assert inside(bare, "python3.11 -c 'import view_profile as vp\nwith vp.profile(\"p\"):\n  with vp.annotate(\"mine\"): pass\n"
                  "print([o.name for o in vp.top(\"p\").ops])'") == "['mine']\n"
    assert inside(bare, "view_profile record --dir q -- python3.11 -c 'import view_profile as vp\nwith vp.annotate(\"recorded\"): print(1)'") == "1\n"
    assert "recorded" in inside(bare, "view_profile top q")
    # libarchive: tar.gz, tar.zst, zip.
    made = bare / "tmp" / "packed"
    made.mkdir()
    for kind, command in (("tar.gz", ["tar", "-czf"]), ("tar.zst", ["tar", "--zstd", "-cf"])):
        if kind != "tar.zst" or shutil.which("zstd"):
            run(*command, made / f"runs.{kind}", "-C", bare / "tmp", "profiles")
            assert "dot" in inside(bare, f"view_profile top packed/runs.{kind}")
    with zipfile.ZipFile(made / "runs.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for p in (bare / "tmp" / "profiles").rglob("*"):
            packed.write(p, p.relative_to(bare / "tmp"))
    assert "dot" in inside(bare, "view_profile top packed/runs.zip")


def test_it_serves_and_fetches_there(bare):
    """libmicrohttpd of the wheel, then libcurl and OpenSSL."""
    program = """
import json, re, socket, subprocess, sys, urllib.request
served = subprocess.Popen(["view_profile", "serve", "--port", "0", "/tmp/profiles"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in served.stdout:
    found = re.search(r"http://(127[.]0[.]0[.]1):([0-9]+)/", line)
    if found:
        break
def head(request):
    page = socket.create_connection((found[1], int(found[2])))
    page.sendall(request.replace("|", chr(13) + chr(10)).encode())
    return page.recv(65536).decode()
refused = head("GET / HTTP/1.1|bad header||")
served_page = head("GET / HTTP/1.1|Host: " + found[1] + ":" + found[2] + "||")
away = subprocess.run(["view_profile", "top", "https://127.0.0.1:" + found[2] + "/x.trace.json.gz"], capture_output=True, text=True)
unreachable = subprocess.run(["view_profile", "capture", "127.0.0.1:1"], capture_output=True, text=True)
served.terminate()
print(json.dumps([refused, served_page, away.stderr, unreachable.returncode, unreachable.stderr]))
"""
    (bare / "tmp" / "serve.py").write_text(program)
    refused, page, away, code, unreachable = json.loads(inside(bare, "python3.11 serve.py", timeout=60))
    assert refused.startswith("HTTP/1.1 400"), refused
    assert re.match(r"HTTP/1.1 (200|30\d)", page) and "Content-Security-Policy" in page, page
    assert re.search(r"TLS|SSL|ssl", away), away  # which is spoken, to a server that does not
    assert code == 6 and "127.0.0.1:1" in unreachable, unreachable


def laid_out(wheel, to):
    """As pip does it, which takes no wheel of another machine."""
    places = {"data": "", "scripts": "bin/"}
    with zipfile.ZipFile(wheel) as packed:
        for i in packed.infolist():
            inside = re.fullmatch(r"[^/]+[.]data/(data|scripts)/(.+)", i.filename)
            at = to / (places[inside[1]] + inside[2] if inside else f"lib/python3/site-packages/{i.filename}")
            if not i.is_dir():
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_bytes(packed.read(i))
                at.chmod(i.external_attr >> 16 & 0o777 or 0o644)


def test_that_of_another_machine_runs_emulated(wheel, tmp_path):
    """The program, and Python with the extension and the recorder, in the root of Debian's arm64 that scripts/aarch64 unpacks."""
    root = pathlib.Path(os.environ.get("VP_AARCH64_ROOT", ROOT / "build" / "aarch64-root"))
    if "aarch64" not in wheel.name or not shutil.which("qemu-aarch64-static") or not (root / "usr" / "bin" / "python3").exists():
        pytest.skip("SKIPPED: of an aarch64 wheel, with qemu-aarch64-static, where scripts/aarch64 has run")
    laid_out(wheel, tmp_path / "opt")
    qemu = ["qemu-aarch64-static", "-L", root]
    program = [*qemu, tmp_path / "opt" / "bin" / "view_profile"]
    assert run(*program, "--version").startswith("view_profile 0.1.0")
    assert "dot" in run(*program, "top", ROOT / "tests" / "data" / "jax_cpu" / "three_runs")
    code = """
import platform, view_profile as vp
with vp.profile("p"):
    with vp.annotate("mine"):
        print(platform.machine())
"""
    python = [*qemu, "-E", f"PYTHONPATH={tmp_path}/opt/lib/python3/site-packages", "-E", f"PYTHONHOME={root}/usr", root / "usr" / "bin" / "python3", "-c", code]
    assert run(*python, cwd=tmp_path) == "aarch64\n"
    assert "mine" in run(*program, "top", tmp_path / "p")
