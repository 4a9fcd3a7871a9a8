"""Debian packages, by the system's own tools: what is in them, that what was unpacked runs, what they say they are made of. They are built
without optimisation, which takes a quarter of the time; with VP_SLOW=1 as they are given out, twice, in two places, and installed by
apt, as the Containerfile does it, into a Debian that has nothing else (debootstrap; root and a mirror)."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOW = os.environ.get("VP_SLOW") == "1"
pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("dpkg-deb", "dpkg-shlibdeps", "cpack"))),
                                reason="SKIPPED: no dpkg-dev here (apt-get install dpkg-dev)")
PACKAGES = ["libview-profile-dev", "libview-profile0", "python3-view-profile", "view-profile"]


def run(*args, **more):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build_packages(source, out, build):
    run(source / "scripts" / "deb", out, env={**os.environ, "VP_DEB_BUILD": str(build), "VP_DEB_TYPE": "Release" if SLOW else "Debug",
                                             "SOURCE_DATE_EPOCH": "1700000000"})
    return {p.name.split("_")[0]: p for p in out.glob("*.deb")}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    at = tmp_path_factory.mktemp("deb")
    return build_packages(ROOT, at / "dist", at / "build")


@pytest.fixture(scope="module")
def tree(packages, tmp_path_factory):
    """All of them, unpacked."""
    at = tmp_path_factory.mktemp("tree")
    for package in packages.values():
        run("dpkg-deb", "-x", package, at)
    return at


def fields(package):
    return dict(re.findall(r"^([\w-]+): (.*)$", run("dpkg-deb", "-f", package), re.M))


def names(package):
    return {line.split()[5].removeprefix(".") for line in run("dpkg-deb", "-c", package).splitlines()}


def test_what_is_in_them(packages):
    assert sorted(packages) == PACKAGES
    multiarch = "/usr/lib/" + run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    inside = {name: names(path) for name, path in packages.items()}
    assert {"/usr/bin/view_profile", "/usr/libexec/view_profile/view_profile-fetch",
            f"{multiarch}/libview_profile_capture.so.0", f"{multiarch}/libview_profile_nvtx.so", f"{multiarch}/view_profile-python/sitecustomize.py",
            "/usr/share/bash-completion/completions/view_profile", "/usr/lib/systemd/system/view_profile.service",
            "/usr/share/doc/view-profile/copyright"} <= inside["view-profile"]
    assert f"{multiarch}/libview_profile.so.0" in inside["libview-profile0"] and f"{multiarch}/libview_profile.so" not in inside["libview-profile0"]
    assert {f"/usr/include/{p.name}" for p in (ROOT / "include").iterdir()} <= inside["libview-profile-dev"]
    assert {f"{multiarch}/{name}" for name in ("libview_profile.so", "libview_profile.a", "libview_profile_capture.a", "pkgconfig/view_profile.pc",
                                               "cmake/view_profile/view_profile-config.cmake")} <= inside["libview-profile-dev"]
    site = "/usr/lib/python3/dist-packages/view_profile"
    assert {f"{site}/{p.name}" for p in (ROOT / "python" / "view_profile").glob("*.py")} | {f"{site}/_native.abi3.so", f"{site}/py.typed"} \
        <= inside["python3-view-profile"]
    for a in PACKAGES:  # no file twice, and none outside /usr
        assert all(name.startswith("/usr") or name == "/" for name in inside[a])
        assert not any({n for n in inside[a] & inside[b] if not n.endswith("/")} for b in PACKAGES if b > a)


def test_what_they_need(packages):
    says = {name: fields(path) for name, path in packages.items()}
    for name in PACKAGES:
        assert says[name]["Version"] == "0.1.0" and says[name]["Architecture"] == run("dpkg", "--print-architecture").strip()
    viewer = says["view-profile"]["Depends"]
    assert all(word in viewer for word in ("libc6", "libjansson4", "zlib1g", "libmicrohttpd12", "libarchive13", "libcurl4"))
    assert not re.search(r"view-profile", viewer)  # apt installs it from its file alone
    assert "view-profile (= 0.1.0)" in says["python3-view-profile"]["Depends"]
    assert "libview-profile0 (= 0.1.0)" in says["libview-profile-dev"]["Depends"]


def test_what_was_unpacked_runs(tree, tmp_path):
    program = tree / "usr" / "bin" / "view_profile"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    assert run(program, "--version").startswith("view_profile 0.1.0")
    assert "temporary files" in run(program, "doctor", cwd=tmp_path)
    library = next(tree.rglob("libview_profile_capture.so.0")).parent
    (tmp_path / "app.c").write_text('#include <view_profile_stub.h>\nint main(void) { VP_SCOPE("mine"); return 0; }\n')
    run("gcc", "-I", tree / "usr" / "include", tmp_path / "app.c", "-o", tmp_path / "app")
    run(program, "record", "--", tmp_path / "app", cwd=tmp_path, env=clean)
    assert "mine" in run(program, "top", cwd=tmp_path)
    site = tree / "usr" / "lib" / "python3" / "dist-packages"
    python = {**clean, "PYTHONPATH": str(site), "LD_LIBRARY_PATH": str(library), "VIEW_PROFILE_PROGRAM": str(program)}
    run("python3", "-c", "import view_profile as vp, importlib.metadata as m\nassert m.version('view-profile') == vp.__version__\n"
        "with vp.profile('p'):\n  with vp.annotate('zone'): pass\nassert [o.name for o in vp.top('p').ops] == ['zone']", cwd=tmp_path, env=python)
    # Linked statically with the viewer's library.
    (tmp_path / "static.c").write_text('#include <view_profile.h>\n#include <stdio.h>\nint main(void) { vp_catalog *c;\n'
                                       'if (vp_catalog_open(&c, "profiles") < 0) return 1;\nprintf("%zu\\n", vp_catalog_count(c)); vp_catalog_free(c); return 0; }\n')
    flags = ["-lz", "-lm", "-ljansson", *(["-lisal"] if "libisal" in run("readelf", "-d", program) else [])]
    run("gcc", "-I", tree / "usr" / "include", tmp_path / "static.c", library / "libview_profile.a", *flags, "-o", tmp_path / "static")
    assert run(tmp_path / "static", cwd=tmp_path) == "1\n"


def test_what_they_are_made_of_is_said(packages, tree):
    """By the packages that dpkg-shlibdeps found for the same files, and each with its hash."""
    document = json.loads((packages["view-profile"].parent / "view_profile-0.1.0.spdx.json").read_text())
    assert document["spdxVersion"] == "SPDX-2.3" and document["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    parts = {p["SPDXID"]: p for p in document["packages"]}
    files = {f["SPDXID"]: f for f in document["files"]}
    assert {f["fileName"] for f in files.values()} == {f"./{p.relative_to(tree)}" for p in tree.rglob("*") if p.is_file() and not p.is_symlink()}
    for f in files.values():
        (sum256,) = [c["checksumValue"] for c in f["checksums"] if c["algorithm"] == "SHA256"]
        assert sum256 == hashlib.sha256((tree / f["fileName"]).read_bytes()).hexdigest()
    linked = {}
    for r in document["relationships"]:
        assert {r["spdxElementId"], r["relatedSpdxElement"]} <= {"SPDXRef-DOCUMENT", *parts, *files}
        if r["relationshipType"] == "DYNAMIC_LINK":
            linked.setdefault(files[r["spdxElementId"]]["fileName"], set()).add(parts[r["relatedSpdxElement"]]["name"])
    depends = re.findall(r"(?:^|, )([\w.+-]+)", fields(packages["view-profile"])["Depends"])
    said = set().union(*(linked[n] for n in linked if "/bin/" in n or "/libexec/" in n or "capture" in n))
    optional = {"libmicrohttpd12", "libarchive13"}
    assert said == set(depends) - optional
    assert optional <= {p["name"] for p in parts.values()}
    assert len({json.dumps(p, sort_keys=True) for p in parts.values()}) == len(document["packages"])


def instructions():
    text = (ROOT / "Containerfile").read_text().replace("\\\n", "")
    return [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]


def test_the_container_has_what_a_build_needs():
    """Its first stage installs what scripts/setup does, and all that it copies or calls is there."""
    wanted = re.search(r"run_packages=\((.*?)\)", (ROOT / "scripts" / "setup").read_text(), re.S)[1].split()
    first = next(rest for word, rest in instructions() if word == "RUN")
    assert set(wanted) <= set(first.split())
    assert [w for w, _ in instructions()].count("FROM") == 2
    assert any(rest.startswith("scripts/deb ") for word, rest in instructions() if word == "RUN")


def in_root(root, *command):
    return run("unshare", "--mount", "--pid", "--fork", f"--mount-proc={root}/proc", "chroot", root, *command)


@pytest.fixture(scope="module")
def clean_root(tmp_path_factory):
    if not SLOW or os.geteuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("SKIPPED: a clean Debian is made with VP_SLOW=1, root and debootstrap only")
    root = tmp_path_factory.mktemp("debian")
    root.chmod(0o755)  # its users look into it, too
    run("debootstrap", "--variant=minbase", "bookworm", root)
    return root


def test_apt_installs_it_into_a_clean_debian(packages, clean_root):
    """By the line of the Containerfile's second stage."""
    shutil.copytree(packages["view-profile"].parent, clean_root / "packages")
    line = next(rest for word, rest in instructions() if word == "RUN" and "/packages/" in rest and "useradd" not in rest and "scripts/deb" not in rest)
    assert "view_profile 0.1.0" in in_root(clean_root, "sh", "-ec", line)
    said = in_root(clean_root, "sh", "-c", "cd /tmp && view_profile doctor")
    assert "file notification" in said
    user = next(rest for word, rest in instructions() if word == "RUN" and rest.startswith("useradd"))
    in_root(clean_root, "sh", "-ec", user)
    shutil.copytree(ROOT / "tests" / "data" / "jax_cpu" / "three_runs", clean_root / "profiles")
    _, _, arguments = next((w, *rest.partition("[")[1:]) for w, rest in instructions() if w == "CMD")
    flags = re.findall(r'"([^"]+)"', arguments)
    assert "serve" in flags
    served = subprocess.run(["unshare", "--mount", "--pid", "--fork", f"--mount-proc={clean_root}/proc", "chroot", "--userspec=viewer", str(clean_root),
                             "sh", "-c", f"cd /profiles && exec timeout -s INT 3 view_profile {' '.join(flags)}"], capture_output=True, text=True)
    assert re.search(r"http://\S+:9001/", served.stdout + served.stderr), served


@pytest.mark.skipif(not SLOW, reason="SKIPPED: two whole builds take ten minutes: VP_SLOW=1")
def test_two_builds_are_the_same_bytes(packages, tmp_path):
    source = tmp_path / "another place"
    source.mkdir()
    for name in run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard").splitlines():
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    other = build_packages(source, tmp_path / "dist", tmp_path / "build")
    assert {n: p.read_bytes() for n, p in other.items()} == {n: p.read_bytes() for n, p in packages.items()}
