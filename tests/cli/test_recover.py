"""`view_profile recover`, and `record` at its end: what killed processes left becomes the profile that
they would have written."""
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest
from recording import WAIT, compile_linked, environment, runs, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from common import tool  # noqa: E402


@pytest.fixture
def killed(place):
    """Four steps, the last of them and the zone in it open."""
    folder = place.dir / "killed"
    done = subprocess.run([tool("capture_tool"), "--killed", folder], check=False)
    assert done.returncode == -9
    return folder


def recover(place, *args):
    return subprocess.run(["view_profile", "recover", *map(str, args)], cwd=place.dir,
                          env=place.env, capture_output=True, text=True, check=False)


def report(place, path):
    done = subprocess.run(["view_profile", "report", "--format", "json", str(path)], cwd=place.dir,
                          env=place.env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def left(folder):
    (file,) = folder.glob("plugins/profile/*/*.vpcap")
    return file


def content(r):
    """What a report says of the program; the file that it was read from aside."""
    return {k: r[k] for k in ("window", "devices", "ops", "steps", "host_ops")}


def test_beside_it(place, killed):
    before = report(place, killed)
    file = left(killed)
    done = recover(place, file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 events" in done.stdout and str(file.parent) in done.stdout
    assert sorted(os.listdir(file.parent)) == ["box.trace.json.gz", "box.vpcap", "box.xplane.pb"]
    after = report(place, killed)
    assert "xplane.pb" in str(after["session"]["files"])
    assert content(after) == content(before)
    listed = subprocess.run(["view_profile", "list", "--format", "json", killed], env=place.env,
                            capture_output=True, text=True, check=True).stdout
    assert json.loads(listed)["sessions"][0]["status"] == "ok"


def test_the_json_says_the_same(place, killed):
    recover(place, killed)
    text = gzip.decompress((left(killed).parent / "box.trace.json.gz").read_bytes())
    trace = json.loads(text)
    zones = [e["name"] for e in trace["traceEvents"] if e["ph"] == "X"]
    assert sorted(zones) == ["forward"] * 4 + ["train"] * 4
    said = trace["otherData"]["warnings"]
    assert any("was not finished" in w for w in said)


AGE = r"(?:\d+\.\d{3} ms|\d+ ns)"


@pytest.mark.parametrize("recovered", [False, True])
def test_open_zones_are_named_with_their_age(place, killed, recovered):
    """In the report's quality and in its text, of the .vpcap and of what is made of it."""
    if recovered:
        assert recover(place, "--remove", killed).returncode == 0
        assert not list(killed.rglob("*.vpcap"))
    said = [q for q in report(place, killed)["quality"] if q["code"] == "unfinished"]
    assert any("the program was killed" in q["message"] and q["severity"] == "warning" for q in said)
    (opened,) = [q["message"] for q in said if "had not ended" in q["message"]]
    assert re.fullmatch(r"at its end 2 zones had not ended, and end here with the recording: forward for "
                        rf"{AGE} \(thread capture_tool\), train 3 for {AGE} "
                        r"\(thread capture_tool\)", opened)
    assert "for 0.000 ms" not in opened
    text = subprocess.run(["view_profile", "report", killed], env=place.env, capture_output=True,
                          text=True, check=True).stdout
    assert "forward for" in " ".join(text.split())


def test_nothing_is_written_over(place, killed):
    recover(place, killed)
    folder = left(killed).parent
    (folder / "box.trace.json.gz").unlink()
    (folder / "box.xplane.pb").write_bytes(b"mine")
    done = recover(place, left(killed))
    assert done.returncode == 3
    assert re.fullmatch(r"view_profile: .*box\.xplane\.pb exists already\n", done.stderr)
    done = recover(place, killed)  # of a directory, that is no failure
    assert (done.returncode, done.stdout) == (0, "") and "1 recording is skipped" in done.stderr
    assert (folder / "box.xplane.pb").read_bytes() == b"mine"
    assert not (folder / "box.trace.json.gz").exists()


def test_into_another_directory(place, killed):
    done = recover(place, killed, "--out", place.dir / "made")
    assert done.returncode == 0, done.stderr
    assert [p.name for p in left(killed).parent.iterdir()] == ["box.vpcap"]
    (run,) = runs(place.dir / "made")
    assert run.name == left(killed).parent.name
    assert sorted(os.listdir(run)) == ["box.trace.json.gz", "box.xplane.pb"]
    assert content(report(place, place.dir / "made")) == content(report(place, killed))


@pytest.mark.parametrize("make,code,said", [
    (lambda p: p, 4, "no .vpcap file of a killed process"),
    (lambda p: p / "missing.vpcap", 4, "missing.vpcap"),
    (lambda p: (p / "text.vpcap").write_text("no recording") and p / "text.vpcap", 3, "text.vpcap"),
])
def test_what_cannot_be_recovered(place, tmp_path, make, code, said):
    done = recover(place, make(tmp_path))
    assert done.returncode == code
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_part_is_refused(place, killed):
    file = left(killed)
    os.truncate(file, file.stat().st_size - 1024 * 1024)
    done = recover(place, file)
    assert done.returncode == 3 and "cut off" in done.stderr
    assert os.listdir(file.parent) == ["box.vpcap"]


CHILDREN = r"""#include <view_profile_capture.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            for (int k = 0; k < 5; k++) {
                VP_SCOPE("work");
            }
            VP_SCOPE("the last");
            if (argc > 1) {
                puts("ready");
                fflush(stdout);
                for (;;)
                    pause();
            }
            kill(getpid(), SIGKILL);
        }
    }
    for (int i = 0; argc == 1 && i < 3; i++)
        wait(NULL);
    for (int k = 0; k < 7; k++) {
        VP_SCOPE("parent");
    }
    return argc > 2;
}
"""


@pytest.fixture
def forks(program, place):
    return compile_linked(program, place.dir / "forks", CHILDREN)


def test_record_recovers_killed_children(place, forks):
    """As those of Python's multiprocessing, which end by os._exit or a signal."""
    done = subprocess.run(["view_profile", "record", "--", forks], cwd=place.dir,
                          env=environment(place), capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    assert len(list(run.glob("*.xplane.pb"))) == 4
    assert len(list(run.glob("*.trace.json.gz"))) == 4
    assert done.stderr.count("a process was killed; its 5 events are saved to ") == 3
    for file in run.glob("*.vpcap"):
        assert file.stat().st_blocks * 512 < 2 << 20
    ops = report(place, place.dir / "profiles")["host_ops"]
    calls = {}
    for op in ops:
        calls[op["name"]] = calls.get(op["name"], 0) + op["calls"]
    assert calls == {"work": 15, "the last": 3, "parent": 7}


def test_what_still_records_is_left_alone(place, forks):
    p = subprocess.Popen(["view_profile", "record", "--", forks, "wait"], cwd=place.dir,
                         env=environment(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, start_new_session=True)
    try:
        assert [p.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
        assert p.wait(WAIT) == 0
        (run,) = runs(place.dir / "profiles")
        until(lambda: len(list(run.glob("*.vpcap"))) == 3)
        assert len(list(run.glob("*.xplane.pb"))) == 1
        file = sorted(run.glob("*.vpcap"))[0]
        done = recover(place, file)
        assert done.returncode == 3 and "still records into it" in done.stderr
    finally:
        os.killpg(p.pid, signal.SIGKILL)
    until(lambda: recover(place, file).returncode == 0)
