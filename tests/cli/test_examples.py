"""The programs of examples/: each is run with small sizes, and what it leaves is opened by
view_profile, which finds what the program planted."""
import json
import pathlib
import re
import select
import signal
import struct
import subprocess
import urllib.request

import pytest

from emulated import is_emulated

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


class Example:
    """Runs an example and view_profile in one directory."""

    def __init__(self, place, program):
        self.place = place
        self.built = pathlib.Path(program).resolve().parent / "examples"

    def run(self, name, *args, code=0):
        path = self.built / name
        assert path.exists(), f"{path} is missing: configure with -DVP_EXAMPLES=ON (VP_TESTS does)"
        done = subprocess.run([path, *map(str, args)], cwd=self.place.dir, env=self.place.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout if code == 0 else done.stderr

    def view(self, *args):
        done = subprocess.run(["view_profile", *map(str, args)], cwd=self.place.dir,
                              env=self.place.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, (args, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def report(self, directory, session=None):
        args = [session] if session else []
        return json.loads(self.view("report", "--format", "json", "--profile-dir", directory, *args))

    def sessions(self, directory):
        listed = json.loads(self.view("list", "--format", "json", "--profile-dir", directory))
        return listed["sessions"]


@pytest.fixture
def example(place, program):
    return Example(place, program)


def fired(report, status="fired"):
    return {f["id"]: f for f in report["findings"] if f["status"] == status}


def host_names(report):
    return {op["name"]: op for op in report["host_ops"]}


def runs_in(directory):
    return sorted(p.parent.relative_to(directory).as_posix()
                  for p in pathlib.Path(directory).rglob("*.xplane.pb"))


# ---- mnist_profiling ----

def test_mnist_profiling_with_the_defaults(example):
    out = example.run("mnist_profiling")
    where = example.place.dir / "profiles" / "mnist_profiling"
    assert f"Profiling directory: {where}\n" in out
    assert "Starting capture: train_step_step_10\n" in out
    assert "Profiler enabled for next 5 steps\n" in out
    assert "Stopping profiler after 5 steps\n" in out
    assert re.search(rf"Trace saved to: {where}/plugins/profile/[0-9_]+/\n", out)
    assert re.search(r"^60 steps, 5 captures, [0-9.]+ ms a step; loss ", out, re.M)
    names = [s["name"] for s in example.sessions(where)]
    assert len(names) == 5
    assert [n.split("/")[0] for n in names[1:]] == [f"train_step_step_{n}" for n in (40, 30, 20, 10)]
    report = example.report(where)
    assert [s["number"] for s in report["steps"]["list"]] == [50, 51, 52, 53, 54]
    assert {"load_batch", "forward", "backward", "sgd_update", "train_step"} <= set(host_names(report))
    assert host_names(report)["load_batch"]["calls"] == 5
    # three layers there and back, the loss and the update; the first layer is by far the largest
    ops = {op["name"]: op for op in report["ops"]}
    assert set(ops) == {f"dense_{i}{g}" for i in range(3) for g in ("", "_grad")} | {
        "softmax_cross_entropy", "sgd"}
    assert all(op["calls"] == 5 for op in ops.values())
    slowest = max(ops.values(), key=lambda op: op["self_ps"])["name"]
    assert slowest in ("dense_0", "dense_0_grad")
    assert re.search(rf"\d\s+-\s+{slowest}$", example.view("top", "--profile-dir", where), re.M)
    found = fired(report)["F14"]  # planted: the input pipeline
    assert "waits for input data" in found["message"] and "load_batch on thread" in found["message"]
    assert found["message"] in " ".join(example.view("findings", "--profile-dir", where).split())


def test_mnist_profiling_counts_its_flops(example):
    example.run("mnist_profiling", "--steps", 12, "--start-step", 3, "--batch", 16, "--hidden", 32,
                "--output-dir", "p")
    stats = json.loads((example.place.dir / "p" / "flop_stats.json").read_text())
    params = 785 * 32 + 33 * 16 + 17 * 10
    assert stats["model_params"] == params and stats["flops_per_token"] == 6 * params
    assert stats["profiling_steps"] == 4 and stats["cold_steps"] == 1  # of five
    assert stats["per_step_tokens"] == [16] * 4 and stats["total_tokens"] == 64
    assert stats["total_time_sec"] == pytest.approx(sum(stats["per_step_times"]), rel=1e-6)
    assert stats["tokens_per_sec"] == pytest.approx(64 / stats["total_time_sec"], rel=1e-6)


def idx(path, dims, data):
    path.write_bytes(struct.pack(f">I{len(dims)}I", 0x800 | len(dims), *dims) + data)


def test_mnist_profiling_reads_idx_files(example):
    data = example.place.dir / "mnist"
    data.mkdir()
    count = 40
    idx(data / "train-images-idx3-ubyte", (count, 28, 28), bytes(range(256)) * (count * 784 // 256 + 1))
    assert "train-images" in example.run("mnist_profiling", "--data", "nowhere", code=1)
    assert "train-labels" in example.run("mnist_profiling", "--data", data, code=1)
    idx(data / "train-labels-idx1-ubyte", (count,), bytes(i % 10 for i in range(count)))
    out = example.run("mnist_profiling", "--data", data, "--steps", 11, "--batch", 8, "--hidden", 16,
                      "--output-dir", "p")
    assert re.search(r"^11 steps, 1 capture, ", out, re.M)
    assert [s["number"] for s in example.report("p")["steps"]["list"]] == [10]


# ---- standalone_mnist_profiling ----

def test_standalone_mnist(example):
    example.run("standalone_mnist_profiling", "--epochs", 2, "--steps", 8, "--batch", 32, "--test", 112)
    where = example.place.dir / "profiles" / "mnist_profile"
    assert sorted(p.name for p in where.iterdir()) == [
        "train_step_10", "train_step_15", "train_step_5", "validation_epoch_0", "validation_epoch_1"]
    assert [s["number"] for s in example.report(where / "train_step_10")["steps"]["list"]] == [10]
    report = example.report(where / "validation_epoch_1")
    assert [s["number"] for s in report["steps"]["list"]] == [0, 1, 2, 3]
    found = fired(report)["F10"]  # planted: the last batch, of 16, is compiled anew
    assert "jit_forward" in found["message"] and "2 times" in found["message"]
    assert "F10" not in fired(example.report(where / "train_step_10"))


# ---- comprehensive_profile_demo ----

def test_comprehensive_demo(example):
    out = example.run("comprehensive_profile_demo", "--size", 800, "--small-size", 60, "--iterations", 4)
    where = example.place.dir / "profiles" / "comprehensive_profile"
    assert sorted(p.name for p in where.iterdir()) == ["annotated", "simple", "small"]
    sums = re.findall(r"^(\w+): \d+ zones?, checksum (\S+),", out, re.M)
    assert dict(sums)["annotated"] == dict(sums)["simple"]  # the same work …
    annotated, plain = example.report(where / "annotated"), example.report(where / "simple")
    assert len(annotated["steps"]["list"]) == len(plain["steps"]["list"]) == 4
    zones = {"matrix_multiply", "matrix_multiply_by_columns", "softmax", "reduce_sum"}
    assert zones <= set(host_names(annotated))  # … but only one tells of it
    assert not zones & set(host_names(plain))
    assert {op["name"] for op in annotated["ops"]} == {"matmul_rows", "matmul_columns", "softmax",
                                                       "reduce_sum"}
    assert {op["name"] for op in plain["ops"]} == {"iteration"}
    # Planted: the product that walks columns is the hot op, where there is a cache. On a busy machine the other may take
    # longer once: one quiet run of five is enough.
    hot = "matmul_columns takes" if not is_emulated() else "matmul_"
    more = (example.place.dir / "again" / str(i) for i in range(4))
    while not fired(annotated)["F17"]["message"].startswith(hot):
        again = next(more)
        example.run("comprehensive_profile_demo", "--mode", "annotated", "--size", 800, "--iterations", 4, "--output-dir", again)
        annotated = example.report(again / "annotated")
    compared = json.loads(example.view("compare", "--format", "json", where / "annotated", where / "small"))
    assert "matmul_columns" in {op["name"] for op in compared["ops"]}


def test_comprehensive_demo_modes(example):
    example.run("comprehensive_profile_demo", "--mode", "small", "--small-size", 8, "--output-dir", "d")
    assert [p.name for p in (example.place.dir / "d").iterdir()] == ["small"]
    assert "no such mode" in example.run("comprehensive_profile_demo", "--mode", "large", code=2)
    assert "--sizes" in example.run("comprehensive_profile_demo", "--sizes", 8, code=2)


# ---- scaling_bench ----

# A straggler that the scheduler cannot hide: 8 workers on two cores, which others use, too.
LATE = ("--steps", 8, "--late-us", 40000, "--layer-us", 6000, "--elements", 1 << 19)


def planted(report, straggler, workers, calls):
    """A straggler, unequal work through it, and communication that nothing hides: each by name."""
    assert len(report["devices"]) == workers
    found, name = fired(report), f"CUSTOM:worker thread:{straggler}"
    last = re.match(rf"{name} arrives last in (\d+) of {calls} matched collective calls",
                    found["F16"]["message"])
    assert last and int(last.group(1)) >= 0.75 * calls
    assert re.match(rf"{name} computes for .* \(mean of {workers} devices", found["F15"]["message"])
    assert "exposed communication; most of it in all-reduce" in found["F4"]["message"]


@pytest.mark.slow
def test_scaling_bench(example):
    example.run("scaling_bench", "--repeats", 2, *LATE)
    logs = example.place.dir / "tensorboard_logs"
    of = {int(p.name[0]): p for p in logs.iterdir()}
    assert sorted(of) == [1, 2, 4, 8]
    assert all(re.fullmatch(r"[1248]gpu_\d{8}_\d{6}", p.name) for p in of.values())
    results = {n: json.loads((p / f"profile_{n}gpu_results.json").read_text()) for n, p in of.items()}
    for n, result in results.items():
        assert result["gpu_count"] == n and result["total_params"] == 1 << 19
        assert result.get("gpu_participation_verified") is (True if n > 1 else None)
        assert "isolation_verified" not in result
        assert result["order"] == [["per_layer", "fused"], ["fused", "per_layer"]]
        for method in ("per_layer", "fused"):
            entry = result[method]
            assert entry["success"] is True and len(entry["run_s"]) == 2
            assert entry["execution_time"] == pytest.approx(sum(entry["run_s"]) / 2, rel=1e-6)
            assert len(runs_in(example.place.dir / entry["tensorboard_trace"])) == 2
    table = json.loads(example.view("trend", "--format", "json", logs))
    rows = {(r["method"], r["devices"]): r for r in table["results"]}
    for method in ("per_layer", "fused"):
        for n in of:
            speed_up = results[1][method]["execution_time"] / results[n][method]["execution_time"]
            assert rows[method, n]["speed_up"] == pytest.approx(speed_up, rel=1e-6)
            assert rows[method, n]["efficiency_percent"] == pytest.approx(100 * speed_up / n, rel=1e-6)
    for n in (2, 4, 8):
        for method, calls in (("fused", 8), ("per_layer", 32)):
            report = example.report(of[n] / f"{method}_trace")
            counts = [c["count"] for c in report["collectives"] if c["kind"] == "all-reduce"]
            assert counts == [calls] * n
            planted(report, 1, n, calls)
    alone = example.report(of[1] / "fused_trace")
    assert not {"F16", "F15", "F4"} & set(fired(alone)) and not alone["collectives"]
    assert "exposed comm" in example.view("compare", of[4] / "per_layer_trace", of[4] / "fused_trace")


@pytest.mark.slow
def test_scaling_bench_compared(example):
    """The results of the bench itself: its methods, and one number of workers against another."""
    example.run("scaling_bench", "--max-workers", 2, "--steps", 4, "--straggler", -1, "--layer-us", 20000,
                "--elements", 4096)
    of = {int(p.name[0]): p for p in (example.place.dir / "tensorboard_logs").iterdir()}
    results = {n: json.loads((p / f"profile_{n}gpu_results.json").read_text()) for n, p in of.items()}
    scaled = json.loads(example.view("compare", "--format", "json", of[1], of[2]))
    assert {(p["a"]["method"], p["a"]["devices"], p["b"]["devices"]) for p in scaled["pairs"]} == {
        ("fused", 1, 2), ("per_layer", 1, 2)}
    for pair in scaled["pairs"]:
        times = [results[n][pair["a"]["method"]]["execution_time"] for n in (1, 2)]
        assert pair["median"]["a_ps"] == pytest.approx(times[0] * 1e12, rel=1e-6)
        assert pair["speed_up"] == pytest.approx(times[0] / times[1], rel=1e-6)
        assert pair["efficiency_percent"] == pytest.approx(50 * times[0] / times[1], rel=1e-6)
        faster = times[1] < times[0]  # as a rule: two workers may have had one processor
        assert (pair["median"]["delta_ps"] < 0) == faster
        assert pair["verdict"] in ("improvement" if faster else "regression", "noise")
    methods = json.loads(example.view("compare", "--format", "json", "tensorboard_logs"))
    assert [(p["a"]["method"], p["b"]["method"], p["a"]["devices"]) for p in methods["pairs"]] == [
        ("per_layer", "fused", 1), ("per_layer", "fused", 2)]


@pytest.mark.slow
def test_scaling_bench_finds_whoever_is_late(example):
    example.run("scaling_bench", "--straggler", 6, "--repeats", 1, "--output-dir", "logs", *LATE)
    (eight,) = (example.place.dir / "logs").glob("8gpu_*")
    planted(example.report(eight / "fused_trace"), 6, 8, 8)


def test_scaling_bench_without_a_straggler(example):
    example.run("scaling_bench", "--max-workers", 1, "--steps", 2, "--repeats", 1, "--straggler", -1,
                "--output-dir", "logs")
    assert len(runs_in(example.place.dir / "logs")) == 2
    assert "nothing to measure" in example.run("scaling_bench", "--max-workers", 9, code=2)


# ---- open_latest ----

def test_open_latest_serves_what_the_others_left(example):
    """The page that it leads to shows the newest run and what was planted there."""
    example.run("mnist_profiling", "--steps", 9, "--start-step", 3, "--output-dir", "logs")
    env = {**example.place.env, "BROWSER": "true"}
    viewer = subprocess.Popen([example.built / "open_latest", "logs"], cwd=example.place.dir, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        assert select.select([viewer.stdout], [], [], 60)[0], "no address in time"
        line = viewer.stdout.readline()
        where = re.match(r"Serving logs at (http://127\.0\.0\.1:\d+/session/\S+)$", line)
        assert where, line
        with urllib.request.urlopen(where.group(1), timeout=60) as answer:
            page = answer.read().decode()
        assert "Input-bound: the device waits for data" in page and "in load_batch on thread" in page
    finally:
        viewer.send_signal(signal.SIGINT)
        rest = viewer.communicate(timeout=60)[0]
    assert viewer.returncode == 0, rest


# ---- All ----

def test_every_example_is_built(example):
    """nvtx_app where the build found NVTX's headers; test_install and test_record compile it, too."""
    sources = {p.stem for p in EXAMPLES.glob("*.c")}
    programs = {name for name in sources if (example.built / name).exists()}
    assert sources - programs - {"nvtx_app"} == {"digits", "mlp", "options"}
    cache = (example.built.parent / "CMakeCache.txt").read_text()
    headers = re.search(r"^VP_NVTX_INCLUDE:PATH=(.*)$", cache, re.M).group(1)
    assert ("nvtx_app" in programs) == (not headers.endswith("-NOTFOUND"))
    for name in programs - {"open_latest", "nvtx_app"}:
        assert "Usage: " in example.run(name, "--help")
