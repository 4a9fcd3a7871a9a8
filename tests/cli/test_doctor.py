"""`view_profile doctor`: every line says what is, every line that is not ok what to do."""
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import find_program

from serving import make_runs
from test_serve import WAIT

NAMES = ["profile directory", "temporary files", "browser", "TensorBoard", "Perfetto UI", "viewer port",
         "TensorBoard port", "safe opening", "sandbox", "file notification", "object stores", "CUPTI", "libdw"]


def doctor(place, *args, env=None):
    return subprocess.run(["view_profile", "doctor", *map(str, args)], cwd=place.dir,
                          env={**place.env, **(env or {})}, capture_output=True, text=True, timeout=WAIT)


def checks(place, *args, env=None):
    done = doctor(place, "--format", "json", *args, env=env)
    report = json.loads(done.stdout)
    assert report["schema"] == "view_profile.doctor/1"
    assert report["ok"] == (done.returncode == 0)
    assert [c["name"] for c in report["checks"]] == NAMES
    for c in report["checks"]:
        assert c["state"] in ("ok", "optional", "missing")
        assert (c["advice"] is None) == (c["state"] == "ok") and c["detail"]
    assert (done.returncode != 0) == any(c["state"] == "missing" for c in report["checks"])
    return done.returncode, {c["name"]: c for c in report["checks"]}


@pytest.fixture
def runs(place):
    return make_runs(place.dir / "runs", 2)


def test_text_fits_a_terminal(place, runs):
    done = doctor(place, "runs")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines if " " in line[28:])  # a path may be longer
    named = [line for line in lines if not line.startswith(" ")]
    assert [line[9:28].strip() for line in named] == NAMES
    for i, line in enumerate(lines):
        if line.startswith(("optional", "missing")):
            assert lines[i + 1].startswith(" " * 28)  # the advice, or the rest of the line and then it
    assert re.match(r"ok       profile directory  runs: 2 runs, latest 2026_", done.stdout)


def test_a_directory_without_a_profile(place, runs):
    empty = place.dir / "empty"
    empty.mkdir()
    code, found = checks(place, "empty")
    assert code == 4 and found["profile directory"]["state"] == "missing"
    code, found = checks(place, "no-such-directory")
    assert code == 4 and "no-such-directory" in found["profile directory"]["detail"]
    (empty / "x.riegeli").write_bytes(b"x")
    place.dir = empty  # nothing was named: then it is only said
    code, found = checks(place)
    assert code == 0 and found["profile directory"]["state"] == "optional"


def test_no_place_for_temporary_files(place, runs):
    code, found = checks(place, "runs", env={"TMPDIR": "/no/such/directory"})
    assert code == 5 and found["temporary files"]["state"] == "missing"
    assert "TMPDIR" in found["temporary files"]["advice"]


def test_browsers(place, runs):
    assert checks(place, "runs", env={"BROWSER": "lynx"})[1]["browser"]["detail"] == "$BROWSER is lynx"
    ssh = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
    found = checks(place, "runs", env=ssh)[1]["browser"]
    assert found["state"] == "optional" and "ssh" in found["advice"]


def program(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.mark.parametrize("packages,state,wanted", [
    ("tensorboard 2.21.0\nxprof 2.24.2\n", "ok", "TensorBoard 2.21.0, profile plugin 2.24.2"),
    ("tensorboard 2.15.0\ntensorboard-plugin-profile 2.15.1\n", "ok", "profile plugin 2.15.1"),
    ("xprof 2.24.2\n", "ok", "XProf 2.24.2"),
    ("tensorboard 2.21.0\n", "optional", "TensorBoard 2.21.0 without profile plugin"),
    ("", "optional", "no TensorBoard in ")])
@pytest.mark.parametrize("first_line", ["#!{python}", "#!/usr/bin/env python9",
                                        "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''"])
def test_tensorboards(place, runs, packages, state, wanted, first_line):
    """The script's first line leads to its Python, here one that says what we want."""
    python = place.dir / "bin" / "python9"
    program(python, f"#!/bin/sh\n[ \"$1 $2\" = '-I -c' ] && printf '{packages}'\n".replace("\n'", "\\n'"))
    program(place.dir / "bin" / "tensorboard", first_line.format(python=python) + "\nimport sys\n")
    env = {"PATH": f"{python.parent}:{place.env['PATH']}"}
    found = checks(place, "runs", env=env)[1]["TensorBoard"]
    assert found["state"] == state and wanted in found["detail"]
    assert state == "ok" or found["advice"].startswith("pip install ")


def test_a_tensorboard_of_no_known_kind(place, runs):
    program(place.dir / "bin" / "mine", "#!/bin/sh\nexec true\n")
    env = {"VIEW_PROFILE_TENSORBOARD": str(place.dir / "bin" / "mine")}
    found = checks(place, "runs", env=env)[1]["TensorBoard"]
    assert found["state"] == "ok" and "mine" in found["detail"]


def test_ports_and_kernel(place, runs):
    found = checks(place, "runs")[1]
    assert re.match(r"9001 is (free|taken by (another view_profile|another program))$",
                    found["viewer port"]["detail"])
    assert re.match(r"6006(:| is) ", found["TensorBoard port"]["detail"])
    assert (found["sandbox"]["state"] == "ok") == ("ABI" in found["sandbox"]["detail"])


WHEEL = "site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"


@pytest.mark.parametrize("places", [
    {"VIRTUAL_ENV": f"lib/python3.12/{WHEEL}"}, {"CONDA_PREFIX": f"lib/python3.12/{WHEEL}"},
    {"PYTHONPATH": "nvidia/cuda_cupti/lib/libcupti.so.12"}, {"PYTHONPATH": "nvidia/cu13/lib/libcupti.so.13"},
    {"LD_LIBRARY_PATH": "libcupti.so.14"}])
def test_cupti_is_found_where_the_recorder_finds_it(place, runs, places):
    """The stand-in, wherever a program that is recorded would have it from."""
    ((variable, below),) = places.items()
    root = place.dir / "root"
    (root / below).parent.mkdir(parents=True)
    shutil.copy(find_program().parent / "tests" / "libfake_cupti.so", root / below)
    found = checks(place, "runs", env={variable: str(root)})[1]["CUPTI"]
    assert (found["state"], found["detail"]) == ("ok", str(root / below))


def test_libdw(place, runs):
    found = checks(place, "runs")[1]["libdw"]
    if found["state"] == "ok":
        assert "libdw" in found["detail"]
    (place.dir / "lib").mkdir()
    (place.dir / "lib" / "libdw.so.1").write_bytes(b"no library")
    found = checks(place, "runs", env={"LD_LIBRARY_PATH": str(place.dir / "lib")})[1]["libdw"]
    assert found["state"] == "optional" and "libdw1" in found["advice"]


CLOUDS = {"AWS_EC2_METADATA_DISABLED": "true", **{name: "" for name in (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "CLOUDSDK_AUTH_ACCESS_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN")}}


def test_object_stores(place, runs):
    """Where credentials are, and never one of them."""
    if not (find_program().parent / "view_profile-fetch").exists():
        pytest.skip("SKIP: built without libcurl")
    found = checks(place, "runs", env=CLOUDS)[1]["object stores"]
    assert (found["state"], found["detail"]) == ("optional", "no credentials found for s3://, gs://, az://")
    assert "--no-sign-request" in found["advice"]
    (place.dir / "adc.json").write_text('{"type": "authorized_user", "refresh_token": "S3CRET"}')
    secret = {"AWS_ACCESS_KEY_ID": "S3CRET", "AWS_SECRET_ACCESS_KEY": "S3CRET",
              "GOOGLE_APPLICATION_CREDENTIALS": str(place.dir / "adc.json")}
    done = doctor(place, "runs", "--format", "json", env={**CLOUDS, **secret})
    assert "S3CRET" not in done.stdout + done.stderr
    found = checks(place, "runs", env={**CLOUDS, **secret})[1]["object stores"]
    assert found["state"] == "ok"
    assert found["detail"] == "credentials for s3:// by the environment, gs:// by a user's file; none found for az://"


def test_names_are_escaped(place, runs):
    hostile = place.dir / "a\x1b[31mb"
    os.rename(runs, hostile)
    done = doctor(place, hostile)
    assert "\x1b" not in done.stdout and "\\x1b[31mb" in done.stdout.lower()
    assert "\x1b[31mb" in checks(place, hostile)[1]["profile directory"]["detail"]


def test_nothing_is_left_behind(place, runs):
    before = sorted(os.listdir(place.temp)), sorted(p for p, _, _ in os.walk(runs))
    doctor(place, "runs")
    assert (sorted(os.listdir(place.temp)), sorted(p for p, _, _ in os.walk(runs))) == before
