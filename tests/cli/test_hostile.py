"""The whole program on damaged files: real ones of every kind, cut and flipped at fixed random
places. It never crashes or hangs, says one line a problem, and never passes damage off as whole."""
import concurrent.futures
import gzip
import json
import os
import random
import re
import subprocess
import tempfile
import threading
import zipfile

import pytest
from traces import trace

SECONDS = 20        # what one run may take, with sanitizers
BYTES = 1 << 30     # and its peak of resident memory
EXITS = {0, 3, 4}   # fine, unreadable, nothing found
WORKERS = os.cpu_count() or 2

# name in the profile directory, path below the traces, cuts, flips
SEEDS = {
    "xplane_cuda": ("cyclops.xplane.pb", "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/"
                    "2025_02_05_11_05_24/cyclops.xplane.pb", 40, 60),
    "xplane_cpu": ("vm.xplane.pb", "jax_cpu/odd_names/plugins/profile/2026_11_21_06_35_03/"
                   "vm.xplane.pb", 40, 60),
    "xplane_julia": ("fv.xplane.pb", "xla_cpu_julia/EnzymeAD__Reactant.jl/gh-pages_v0.2.105/tutorials/"
                     "plugins/profile/2025_05_15_16_04_13/fv-az1373-146.xplane.pb", 40, 60),
    "xplane_rocm": ("tw003.xplane.pb", "jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/"
                    "tw003.xplane.pb", 40, 60),
    "xplane_tpu": ("tpu.xplane.pb", "jax_tpu/openxla__xprof/test_xplanes/"
                   "v2__tpu_inference_2.xplane.pb", 10, 15),
    "xla_json_gz": ("fv.trace.json.gz", "xla_cpu_julia/EnzymeAD__Reactant.jl/gh-pages_v0.2.105/"
                    "tutorials/plugins/profile/2025_05_15_16_04_13/fv-az1373-146.trace.json.gz", 40, 60),
    "kineto_gz": ("w0.pt.trace.json.gz", "pytorch_cuda/AMD-AGI__TraceLens/b300_moe/"
                  "moe_03_top1_sparse.json.gz", 40, 60),
    "kineto": ("w0.pt.trace.json", "pytorch_cuda/pytorch__kineto/docs/traces/before_fix_trace.json",
               40, 60),
    "chrome": ("simple_trace.json", "chrome_odd/catapult-project__catapult/simple_trace.json", 40, 60),
    "tar_gz": ("runs.tar.gz", "archives_made/reactant_2runs_dotslash.tar.gz", 40, 60),
    "tar_zst": ("runs.tar.zst", None, 40, 60),
    "zip": ("runs.zip", None, 40, 60),
}
CHECKSUMMED = {"xla_json_gz", "kineto_gz", "tar_gz", "tar_zst", "zip"}


def members(traces):
    """Two small real runs as they would lie in an archive."""
    run = traces / "xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile"
    return [(f"log/plugins/profile/{p.parent.name}/{p.name}", p)
            for p in sorted(run.glob("*/*")) if p.suffix in (".pb", ".gz")]


def make_zip(to, traces):
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as z:
        for name, path in members(traces):
            z.write(path, name)


def make_tar_zst(to, traces):
    root = to.parent / "tree"
    for name, path in members(traces):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(path.read_bytes())
    tar = subprocess.run(["tar", "--sort=name", "-C", root, "-c", "log"], check=True,
                         capture_output=True).stdout
    to.write_bytes(subprocess.run(["zstd", "-q", "--check", "-c"], input=tar, check=True,
                                  capture_output=True).stdout)


@pytest.fixture
def seed(request, place, tmp_path):
    """(file name, its bytes, cuts, flips) of a kind."""
    name, path, cuts, flips = SEEDS[request.param]
    if path:
        data = trace(path).read_bytes()
    else:
        made = tmp_path / name
        (make_zip if name.endswith("zip") else make_tar_zst)(made, place.traces)
        data = made.read_bytes()
    return request.param, name, data, cuts, flips


class Run:
    """One bounded run: exit code, output, peak memory."""

    def __init__(self, place, *args):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(["view_profile", *map(str, args)], env=place.env, cwd=place.dir,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            clock = threading.Timer(SECONDS, process.kill)
            clock.start()
            try:
                _, status, used = os.wait4(process.pid, 0)
            finally:
                clock.cancel()
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            assert self.code != -9, f"{args}: still running after {SECONDS} s"
            self.out, self.err = (f.seek(0) or f.read() for f in (out, err))
        self.peak = used.ru_maxrss * 1024  # or that of pytest, which it was forked from
        self.args = args

    def check(self):
        """What holds for every run, whatever the file."""
        err = self.err.decode("utf-8")
        assert self.code in EXITS, (self.args, self.code, err[-3000:])
        assert self.peak < BYTES, (self.args, self.peak)
        for line in err.splitlines():
            assert line.startswith("view_profile: "), (self.args, err)
        if self.code:
            assert len(err.splitlines()) == len(set(err.splitlines())) >= 1, (self.args, err)
            assert self.out == b"", self.args
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", self.out + self.err), self.args
        return self


def check_report(run):
    """The JSON of a report: the identity of every device, and totals that close."""
    report = json.loads(run.out)
    for device in report["devices"]:
        b = device["breakdown"]
        assert (b["compute_ps"] + b["exposed_comm_ps"] + b["exposed_copy_ps"] + b["idle_ps"]
                == b["window_ps"] >= 0), run.args
        assert all(v >= 0 for v in b.values()), run.args
        assert b["busy_ps"] == b["window_ps"] - b["idle_ps"], run.args
    for op in report["ops"]:
        assert op["calls"] > 0 and 0 <= op["min_ps"] <= op["p50_ps"] <= op["p95_ps"] <= op["max_ps"]
        assert op["self_ps"] >= 0, run.args
    return report


def damaged_copies(name, data, cuts, flips, to):
    """Copies in directories of their own, the same ones on every run: (what, path)."""
    random_places = random.Random(f"{name} {len(data)}")
    for i in range(cuts + flips):
        bad = bytearray(data)
        at = random_places.randrange(len(data))
        if i < cuts:
            del bad[at:]
        else:
            bad[at] ^= 1 << random_places.randrange(8)
        path = to / str(i) / name
        path.parent.mkdir()
        path.write_bytes(bad)
        yield ("cut" if i < cuts else "flip"), path


def admits(place, run, path):
    """Damage is said: by the exit code, in the report, or in the list."""
    if run.code or any(q["severity"] != "info" for q in json.loads(run.out)["quality"]):
        return True
    listed = Run(place, "list", "--verbose", path.parent).check()
    return listed.code != 0 or b"view_profile: " in listed.err


def same_content(data, path):
    """A flip in what no reader looks at (a name or a time in a gzip header) changes nothing."""
    if not path.name.endswith(".gz"):
        return False
    try:
        return gzip.decompress(path.read_bytes()) == gzip.decompress(data)
    except (OSError, EOFError, gzip.zlib.error):
        return False


def member_names(place, path):
    """Below the archive."""
    listed = json.loads(Run(place, "list", "--format=json", path.parent).check().out)
    return {f["path"].split("!")[-1] for s in listed["sessions"] for f in s["files"]}


def renames(place, kind, path, whole):
    """Names in a zip have no checksum: a flip renames a member, as the list then shows."""
    return kind == "zip" and member_names(place, path) != member_names(place, whole)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS, indirect=True)
def test_damage_is_survived_and_said(seed, place):
    kind, name, data, cuts, flips = seed
    whole = place.dir / "whole" / name
    whole.parent.mkdir()
    whole.write_bytes(data)
    good = check_report(Run(place, "report", "--format=json", whole.parent).check())
    assert good["devices"]

    def one(item):
        what, path = item
        run = Run(place, "report", "--format=json", path.parent).check()
        if run.code == 0:
            report = check_report(run)
            if report["ops"] == good["ops"] and report["devices"] == good["devices"]:
                return what, True
        said = (admits(place, run, path) or same_content(data, path)
                or renames(place, kind, path, whole))
        assert said or kind not in CHECKSUMMED, f"{what} {path} passed silently"
        assert said or what == "flip" or kind == "chrome", f"{path} was cut and nobody said so"
        return what, said

    (place.dir / "bad").mkdir()
    copies = list(damaged_copies(name, data, cuts, flips, place.dir / "bad"))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        outcomes = list(pool.map(one, copies))
    assert len(outcomes) == cuts + flips


SURFACES = [("list",), ("list", "--format=json"), ("--list-only",), ("report", "--format=html"),
            ("report", "--format=csv"), ("top", "--group=scope")]


@pytest.mark.parametrize("args", SURFACES, ids=" ".join)
def test_every_surface_survives(place, args):
    """The other commands, on a directory with damaged files of every kind."""
    for kind, (name, path, _, _) in SEEDS.items():
        if not path or kind == "xplane_tpu":
            continue
        data = trace(path).read_bytes()
        for k, (_, bad) in enumerate(damaged_copies(name, data, 2, 2, place.dir)):
            bad.parent.rename(place.dir / f"{kind}_{k}")
    run = Run(place, *args, place.dir).check()
    assert run.code == 0
    if args[-1] == "--format=json":
        assert json.loads(run.out)["sessions"]


def test_memory_stays_bounded(place, tmp_path):
    """No damaged length makes the program take what it says: one run a seed, heads overwritten."""
    for i, huge in enumerate((b"\x0a\xff\xff\xff\xff\x07", b"\x0a\xff\xff\xff\xff\xff\xff\xff\x7f",
                              b"\x0a\x80\x80\x80\x80\x40\x12\x80\x80\x80\x80\x20")):
        bad = place.dir / f"{i}.xplane.pb"
        bad.write_bytes(huge + b"\x12\x04/gpu" * 100)
        Run(place, "report", "--format=json", bad).check()
