"""When credentials are read and used: `--no-sign-request` reaches who signs from every command, and files with
credentials are opened only for a store that wants them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import fetching  # noqa: E402
from emulated import find_program, not_emulated  # noqa: E402
from stores import serving, shelf  # noqa: E402
from test_stores_clouds import SECRET, Bucket, aws, s3  # noqa: E402
from traces import ROOT  # noqa: E402

pytest.importorskip("h2", reason="SKIP: scripts/requirements-test.txt is not installed: h2")
from profiler_server import ProfilerServer, response  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
REAL = next((ROOT / "tests" / "data" / "jax_cpu").rglob("*.xplane.pb"))
RUN = "logs/plugins/profile/2026_01_02_03_04_05/host.xplane.pb"


def run(place, *args, before=()):
    return subprocess.run([*before, "view_profile", *args], cwd=place.dir, env=place.env, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def public():
    """A bucket that looks at no signature, with a run and its report."""
    report = subprocess.run([find_program(), "report", "--format", "json", REAL], capture_output=True, check=True).stdout
    bucket = Bucket({RUN: REAL.read_bytes(), "report.json": report}, page=1000)
    with serving(s3(bucket, signed=False)) as bucket.url:
        yield bucket


@pytest.fixture(scope="module")
def job():
    with ProfilerServer(lambda call: call.answer(response(REAL.read_bytes()))) as server:
        yield server.target


LOGS, REPORT = "s3://bkt/logs", "s3://bkt/report.json"
QUICK = ["--duration", "10ms"]


@pytest.mark.parametrize("args", [
    ["list", LOGS], ["top", LOGS], ["report", LOGS], ["findings", LOGS], ["memory", LOGS], ["doctor", LOGS], ["extract", "--out", "x", LOGS],
    ["compare", REPORT, LOGS], ["merge", REPORT], ["trend", REPORT], ["serve", "--list-only", LOGS],
    ["capture", *QUICK, "--out", "s3://bkt/c", None], ["watch", *QUICK, "--every", "100ms", "--times", "1", "--out", "s3://bkt/w", None]],
    ids=lambda args: args[0])
def test_no_sign_request_is_handed_on(place, public, job, args):
    """With keys at hand, which are used where the option is not given."""
    place.env |= aws(public.url)
    command, *rest = [arg or job for arg in args]
    for options in ([], ["--no-sign-request"]):
        public.asked.clear()
        shutil.rmtree(place.env["XDG_CACHE_HOME"], ignore_errors=True)
        shutil.rmtree(place.dir / "x", ignore_errors=True)
        done = run(place, command, *options, *rest)
        signed = ["Authorization" in headers for *_, headers in public.asked]
        assert signed and set(signed) == {not options}, (options, done.returncode, done.stderr)


@pytest.mark.skipif(not shutil.which("strace"), reason="SKIP: strace is not installed: scripts/setup")
@pytest.mark.parametrize(("where", "aws_opens"), [("web", 0), ("unsigned", 0), ("signed", 1)])
def test_files_are_opened_only_where_they_are_wanted(place, public, tmp_path, where, aws_opens):
    not_emulated("strace sees what the emulator asks for")
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(f"[default]\naws_access_key_id = AK\naws_secret_access_key = {SECRET}\n")
    (tmp_path / "adc.json").write_text("{}")
    place.env |= {"AWS_ENDPOINT_URL": public.url, "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "adc.json"),
                  "ASAN_OPTIONS": "detect_leaks=0"}  # which looks at nobody who is traced already
    log = place.dir / "log"
    with shelf() as web:
        web.dirs.add("/logs/")
        args = {"web": [web.url + "/logs"], "unsigned": ["--no-sign-request", LOGS], "signed": [LOGS]}[where]
        done = run(place, "list", *args, before=["strace", "-f", "-e", "trace=execve,open,openat", "-o", log])
    assert "view_profile-fetch" in log.read_text()
    opened = re.findall(r'open(?:at)?\([^"\n]*"([^"\n]*)"', log.read_text())
    assert opened and (where == "web" or "2026_01_02_03_04_05" in done.stdout), done.stderr
    assert sum(path.endswith("/.aws/credentials") for path in opened) == aws_opens
    assert not any(path.endswith("adc.json") for path in opened)
