"""`view_profile record --gpu` with a stand-in for libcupti.so (tests/unit/fake_cupti.c): what it hands
over is a GPU's plane in the run, with the calls that started its kernels; and the reasons why there
may be none."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT
from recording import (WAIT, ask, compile_c, environment, events, nvtx_headers, runs, sanitizer, steps,
                       until, zones)


@pytest.fixture(scope="session")
def app(program, tmp_path_factory):
    out = tmp_path_factory.mktemp("app") / "nvtx_app"
    return compile_c(program, out, ROOT / "examples" / "nvtx_app.c", f"-I{nvtx_headers()}")


@pytest.fixture
def cupti(program, tmp_path):
    """A directory with the stand-in under CUPTI's name."""
    fake = pathlib.Path(program).parent / "tests" / "libfake_cupti.so"
    if not fake.exists():
        pytest.skip(f"SKIPPED: no {fake}: build with VP_TESTS")
    place = tmp_path / "cuda"
    place.mkdir()
    shutil.copy(fake, place / "libcupti.so.13")
    return place


def record(place, program, app, *args, **more):
    # The recorder is loaded before the sanitizer's own library, which is all right here.
    options = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"} if sanitizer(program) else {}
    return subprocess.run(["view_profile", "record", "--gpu", *args, "--", app, "6"], cwd=place.dir,
                          env=environment(place, FAKE_CUPTI_GOES="1", **options, **more), capture_output=True, text=True,
                          timeout=WAIT * 2)


def test_kernels_and_their_calls(place, program, app, cupti):
    done = record(place, program, app, "--steps", "1:2", LD_LIBRARY_PATH=str(cupti))
    assert done.returncode == 0, done.stderr
    assert "GPU" not in done.stderr.replace("/device:GPU:0", "")  # which the table of its slowest ops names
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [1, 2]
    names = {e["pid"]: e["args"]["name"] for e in events(run)
             if e["ph"] == "M" and e["name"] == "process_name"}
    gpu = [p for p, n in names.items() if n.startswith("/device:GPU:0")]
    assert len(gpu) == 1
    kernels = [e for e in zones(run) if e["pid"] == gpu[0] and "work" in e["name"]]
    assert [k["dur"] for k in kernels] == [1.0] * 3  # 1 us each, 100 us apart
    apart = [b["ts"] - a["ts"] for a, b in zip(kernels, kernels[1:])]
    assert apart == pytest.approx([100, 100], abs=0.002)
    calls = [e for e in zones(run) if e["name"] == "cudaLaunchKernel"]
    assert len(calls) == 3 and all(c["dur"] == 5.0 and c["pid"] != gpu[0] for c in calls)
    told = [e["args"]["correlation_id"] for e in kernels]
    assert told == [c["args"]["correlation_id"] for c in calls] and len(set(told)) == 3


def test_the_past_has_what_the_gpu_has_told(place, program, app, cupti):
    """Two of three kernels are over when the past is asked for; the program goes on."""
    options = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"} if sanitizer(program) else {}
    runtime = pathlib.Path(place.env["XDG_RUNTIME_DIR"])
    p = subprocess.Popen(["view_profile", "record", "--gpu", "--", app, "100000"], cwd=place.dir,
                         env=environment(place, LD_LIBRARY_PATH=str(cupti), **options),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        (found,) = until(lambda: list(runtime.glob("view_profile/*.sock")))
        until(lambda: ask(runtime, found.stem, "STATUS")["steps"] > 2)
        past = pathlib.Path(ask(runtime, found.stem, "PAST seconds=60")["last_run"])
    finally:
        p.terminate()
        p.communicate(timeout=WAIT)
    # where no demangler is loaded, as its compiler wrote it
    assert len([e for e in zones(past) if "work" in e["name"]]) == 2
    assert len([e for e in zones(past) if e["name"] == "cudaLaunchKernel"]) == 2
    assert steps(past)


def test_the_viewer_shows_a_device(place, program, app, cupti):
    """The recording ends with the program, when CUPTI is about to go."""
    done = record(place, program, app, LD_LIBRARY_PATH=str(cupti))
    assert done.returncode == 0, done.stderr
    text = subprocess.run([program, "report", "--format", "json", "profiles"], cwd=place.dir,
                          capture_output=True, text=True, check=True).stdout
    report = json.loads(text)
    (device,) = report["devices"]
    assert device["kind"] == "gpu" and device["name"].endswith("GPU:0")
    assert device["breakdown"]["compute_ps"] == 3 * 1_000_000
    (op,) = [o for o in report["ops"] if o["calls"] == 3]
    assert op["total_ps"] == 3_000_000


def test_without_cupti(place, program, app, tmp_path):
    """Whichever CUPTI this machine has, without a driver there is a reason, and a run of the rest."""
    if os.path.exists("/dev/nvidia0"):
        pytest.skip("SKIPPED: there is a GPU here")
    done = record(place, program, app, "--steps", "1:2")
    assert done.returncode == 0, done.stderr
    assert "view_profile: without the GPU: " in done.stderr and "CUPTI" in done.stderr
    (run,) = runs(place.dir / "profiles")
    assert steps(run) == [1, 2]


def test_cuda_that_is_not_used_is_not_looked_for(place, program, app, cupti):
    """Without --gpu, a program that has not loaded the driver is none of CUPTI's business."""
    done = subprocess.run(["view_profile", "record", "--", app, "3"], cwd=place.dir, text=True,
                          env=environment(place, LD_LIBRARY_PATH=str(cupti)), capture_output=True)
    assert done.returncode == 0 and "GPU" not in done.stderr
    (run,) = runs(place.dir / "profiles")
    assert not [e for e in zones(run) if e["name"] == "cudaLaunchKernel"]
