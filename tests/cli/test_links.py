"""Device ops and the host code that launched them (docs/reference/links.md)."""
import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "golden"))
from pftrace_decode import Trace  # noqa: E402

FIELD = pathlib.Path(os.environ.get("VP_FIELD", ROOT.parent / "shared" / "field"))


def event(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def launched(correlation, ts, kernel, dur, tid=1, start=None):
    """A launch call and its kernel, 50 us later unless `start` says when."""
    return [event("cuda_runtime", "cudaLaunchKernel", 1, tid, ts, 2, correlation=correlation),
            event("kernel", kernel, 0, 7, ts + 50 if start is None else start, dur, device=0, stream=7, correlation=correlation)]


def top(place, events, *args):
    """{name of the row: (self time in us, calls)} of `view_profile top`, and the whole answer."""
    path = place.dir / "t.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    done = subprocess.run(["view_profile", "top", path, "--format", "json", *args], env=place.env, cwd=place.dir,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    rows = {op["name"]: (op["self_ps"] / 1e6, op["calls"]) for op in answer["ops"]}
    assert sum(op["self_ps"] for op in answer["ops"]) == sum(d["self_ps"] for d in answer["devices"])
    return rows, answer


FORWARD = [
    event("user_annotation", "ProfilerStep#7", 1, 1, 0, 1000),
    event("python_function", "/home/me/train.py(20): step", 1, 1, 1, 900),
    event("python_function", "nn.Module: Linear_0", 1, 1, 2, 400),
    event("python_function", "torch/nn/modules/linear.py(114): forward", 1, 1, 3, 390),
    event("cpu_op", "aten::linear", 1, 1, 10, 300, **{"Sequence number": 4, "Fwd thread id": 0}),
    event("cpu_op", "aten::addmm", 1, 1, 20, 200, **{"Sequence number": 4, "Fwd thread id": 0}),
    *launched(1, 30, "gemm", 80),
]
BACKWARD = [
    event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 1, 2, 500, 200,
          **{"Sequence number": 4, "Fwd thread id": 1}),
    event("cpu_op", "AddmmBackward0", 1, 2, 510, 150, **{"Sequence number": 4, "Fwd thread id": 1}),
    event("cpu_op", "aten::mm", 1, 2, 520, 100),
    *launched(2, 530, "gemm", 60, tid=2),
]


def test_operators_modules_and_lines(place):
    assert top(place, FORWARD, "--group", "operator")[0] == {"aten::addmm": (80, 1)}
    assert top(place, FORWARD, "--group", "operator", "--outermost")[0] == {"aten::linear": (80, 1)}
    assert top(place, FORWARD, "--group", "scope")[0] == {"nn.Module: Linear_0/aten::linear/aten::addmm": (80, 1)}
    assert top(place, FORWARD, "--group", "source")[0] == {"/home/me/train.py:20": (80, 1)}


def test_a_backward_op_inherits_the_place_of_its_forward_op(place):
    events = FORWARD + BACKWARD
    assert top(place, events, "--group", "operator")[0] == {"aten::addmm": (80, 1), "aten::mm": (60, 1)}
    assert top(place, events, "--group", "source")[0] == {"/home/me/train.py:20": (140, 2)}
    assert set(top(place, events, "--group", "scope")[0]) == {
        "nn.Module: Linear_0/aten::linear/aten::addmm", "nn.Module: Linear_0/AddmmBackward0/aten::mm"}


def test_a_backward_op_adds_to_its_forward_scope(place):
    path = place.dir / "t.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": FORWARD + BACKWARD}))
    done = subprocess.run(["view_profile", "report", path, "--format", "json"], env=place.env, capture_output=True, text=True, check=True)
    (row,) = [(s["path"], s["forward_ps"], s["backward_ps"]) for s in json.loads(done.stdout)["folded_scopes"]]
    assert row == ("nn.Module: Linear_0", 80_000_000, 60_000_000)


def test_triton_kernels_lead_to_their_source(place):
    """Without a frame of the user the source is the file that torch.compile generated the kernel in."""
    generated = "/tmp/torchinductor_me/qa/cqao.py"
    events = [event("cpu_op", "Torch-Compiled Region: 0/0", 1, 1, 0, 1000),
              event("python_function", f"{generated}(33): call", 1, 1, 5, 500),
              event("cpu_op", "triton_poi_fused_add_0", 1, 1, 10, 100, kernel_backend="triton", kernel_file=generated),
              *launched(1, 20, "triton_poi_fused_add_0", 30),
              event("cpu_op", "triton_poi_fused_add_0", 1, 1, 200, 100, kernel_backend="triton", kernel_file="/tmp/other.py"),
              *launched(2, 220, "triton_poi_fused_add_0", 10)]
    assert top(place, events, "--group", "source")[0] == {generated: (30, 1), "/tmp/other.py": (10, 1)}
    assert top(place, events, "--group", "operator", "--outermost")[0] == {"Torch-Compiled Region: 0/0": (40, 2)}
    events.insert(0, event("python_function", "/home/me/run.py(8): main", 1, 1, 0, 2000))
    assert top(place, events, "--group", "source")[0] == {"/home/me/run.py:8": (40, 2)}


def test_sequence_numbers_that_repeat_mean_the_latest_forward_op(place):
    other = [event("python_function", "nn.Module: Conv_0", 1, 3, 2000, 100),
             event("cpu_op", "aten::conv2d", 1, 3, 2010, 50, **{"Sequence number": 4, "Fwd thread id": 0})]
    scopes = set(top(place, FORWARD + BACKWARD + other, "--group", "scope")[0])
    assert "nn.Module: Linear_0/AddmmBackward0/aten::mm" in scopes  # the other one is later


def test_steps_are_one_place(place):
    events = []
    for step, at in enumerate((0, 10_000, 20_000)):
        events += [event("user_annotation", f"train_step {step}", 1, 1, at, 5000), event("cpu_op", "aten::relu", 1, 1, at + 10, 100),
                   *launched(step + 1, at + 20, "relu", 10)]
    assert top(place, events, "--group", "scope")[0] == {"train_step/aten::relu": (30, 3)}


def test_a_correlation_id_that_repeats_means_the_latest_launch(place):
    events = []
    for at, op in ((0, "aten::first"), (10_000, "aten::second")):
        events += [event("cpu_op", op, 1, 1, at, 100), *launched(5, at + 10, "k", 10)]
    assert top(place, events, "--group", "operator")[0] == {"aten::first": (10, 1), "aten::second": (10, 1)}


def test_a_kernel_before_its_launch_has_an_operator(place):
    events = [event("cpu_op", "aten::add", 1, 1, 100, 100), *launched(1, 110, "k", 10, start=50)]
    assert top(place, events, "--group", "operator")[0] == {"aten::add": (10, 1)}


def test_the_report_names_operators_beside_kernels(place):
    other = [event("cpu_op", "aten::bmm", 1, 1, 1000, 100), *launched(7, 1010, "gemm", 20)]
    rows, answer = top(place, FORWARD + BACKWARD + other, "--group", "operator")
    path = place.dir / "t.pt.trace.json"

    def run(*args):
        return subprocess.run(["view_profile", *args], env=place.env, cwd=place.dir, capture_output=True, text=True, check=True).stdout
    (op,) = json.loads(run("report", path, "--format", "json"))["ops"]
    assert (op["name"], op["operator"], op["outermost_operator"], op["operators"]) == ("gemm", "aten::addmm", "aten::linear", 3)
    header, row = csv.reader(run("report", path, "--format", "csv").splitlines())
    assert row[header.index("operator")] == "aten::addmm" and row[header.index("outermost_operator")] == "aten::linear"
    assert "aten::addmm +1" in run("top", path, "--group", "source")
    assert "aten::addmm +2" in run("top", path)
    (light,) = json.loads(run("top", path, "--format", "json"))["ops"]
    assert all(light[key] == op[key] for key in ("operator", "outermost_operator", "operators"))


def test_top_reads_correlations_wherever_they_stand_in_args(place):
    """`top` reads only operators and launch calls, and of their args only the correlation."""
    events = [event("cpu_op", "aten::mm", 1, 1, 0, 1000)]
    args = [{"correlation": 1}, {"kernel": '"correlation": 9', "correlation": 2, "grid": [1, 1, 1]},
            {"correlation": 3, "inner": {"correlation": 9}}, {"cbid": 211, "note": '"correlation": 9', "correlation": 4}]
    for i, arg in enumerate(args):
        events += [event("cuda_runtime", "cudaLaunchKernel", 1, 1, 10 * i + 1, 2, **arg),
                   event("kernel", "k", 0, 7, 10 * i + 100, 5, correlation=i + 1, device=0, stream=7)]
    rows, answer = top(place, events, "--group", "operator")
    assert rows == {"aten::mm": (20, 4)}


def exported(place, form, events):
    path, out = place.dir / "t.pt.trace.json", place.dir / f"out.{form}"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    subprocess.run(["view_profile", "export", "--to", form, "-o", out, path], env=place.env, cwd=place.dir, check=True)
    return out


KERNEL_ARGS = {"operator": "aten::addmm", "outermost_operator": "aten::linear", "module": "Linear_0", "source": "/home/me/train.py:20"}


def test_exported_kernels_name_their_launch(place):
    """Also if the args are empty or have a key of their own."""
    own = [event("cpu_op", 'odd "name"\\', 1, 1, 2000, 100), *launched(3, 2010, "k", 5), *launched(4, 2030, "own", 5)]
    own[-1]["args"] |= {"operator": "mine", "module": ""}
    outside = launched(5, 3000, "outside", 5)
    events = FORWARD + BACKWARD + own + outside
    made = json.loads(exported(place, "perfetto-json", events).read_text())["traceEvents"]
    args = {e["name"]: e["args"] for e in reversed(made) if e.get("cat") == "kernel"}
    for key, value in KERNEL_ARGS.items():
        assert args["gemm"][key] == value
    assert args["k"]["operator"] == args["k"]["outermost_operator"] == 'odd "name"\\' and "module" not in args["k"]
    assert args["own"]["operator"] == "mine" and args["own"]["module"] == ""
    assert "operator" not in args["outside"]
    packed = Trace(exported(place, "pftrace", events).read_bytes())
    kernels = {s.name: s.args for s in packed.slices if "correlation" in s.args and "device" in s.args}
    assert KERNEL_ARGS.items() <= kernels["gemm"].items() or kernels["gemm"]["operator"] == "aten::mm"
    assert kernels["k"]["operator"] == 'odd "name"\\' and kernels["own"]["operator"] == "mine"


def test_exported_arrows_follow_the_links(place):
    """Only in a file without arrows of its own; an id that is used again leads to its own launch."""
    events = [e for at in (0, 10_000) for e in launched(5, at, "k", 10)] + [event("cpu_op", "aten::mm", 1, 1, 10_000, 20)]
    made = json.loads(exported(place, "perfetto-json", events).read_text())["traceEvents"]
    starts = [e["bind_id"] for e in made if e.get("flow_out")]
    assert len(set(starts)) == 2 and [e["bind_id"] for e in made if e.get("flow_in")] == starts
    flow = {"id": 5, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 1, "tid": 1}
    made = json.loads(exported(place, "perfetto-json", [*events, {**flow, "ph": "s"}, {**flow, "ph": "f", "pid": 0, "tid": 7, "ts": 55,
                                                                                    "bp": "e"}]).read_text())["traceEvents"]
    assert not any("bind_id" in e for e in made)


def test_ops_without_a_launch_are_counted(place):
    lost = event("kernel", "lost", 0, 7, 400, 20, device=0, stream=7, correlation=99)
    rows, answer = top(place, FORWARD + [lost], "--group", "operator")
    assert rows == {"aten::addmm": (80, 1), "(no operator)": (20, 1)}
    (note,) = [q["message"] for q in answer["quality"] if q["code"] == "no-operator"]
    assert note == "1 of 2 device ops have no operator: 1 without a launch call in this file"


def test_without_launch_calls_the_reason_is_given(place):
    kernels = [e for e in FORWARD if e["cat"] == "kernel"]
    rows, answer = top(place, kernels, "--group", "operator")
    assert rows == {"(no operator)": (80, 1)}
    assert [q for q in answer["quality"] if q["code"] == "no-operator"]


def test_a_launch_outside_of_operators_has_its_frame(place):
    events = [event("python_function", "/home/me/run.py(8): main", 1, 1, 0, 1000), *launched(1, 30, "k", 10)]
    assert top(place, events, "--group", "scope")[0] == {"run.py(8): main": (10, 1)}
    rows, answer = top(place, events, "--group", "operator")
    assert rows == {"(no operator)": (10, 1)}
    (note,) = [q["message"] for q in answer["quality"] if q["code"] == "no-operator"]
    assert note == "1 of 1 device ops have no operator: 1 launched outside of operators"


@pytest.mark.parametrize("file,args,rows", [
    ("11-operator-device-time", ["--group", "operator"], {"aten::mm": (640, 8), "aten::relu": (320, 4), "aten::add": (320, 4)}),
    ("11-operator-device-time", ["--group", "operator", "--outermost"],
     {"aten::linear": (640, 8), "aten::relu": (320, 4), "aten::add": (320, 4)}),
    ("44-step-in-scope", ["--group", "scope"],
     {"ProfilerStep/train.py(20): step/nn.Module: Linear_0/aten::linear/aten::addmm": (1250, 5)}),
])
def test_public_reports(place, file, args, rows):
    if not FIELD.exists():
        pytest.skip(f"SKIPPED: no {FIELD}")
    events = json.loads((FIELD / file / "trace.pt.trace.json").read_text())
    if file.startswith("44"):
        path = FIELD / file / "trace.pt.trace.json"
        done = subprocess.run(["view_profile", "top", path, "--format", "json", *args], env=place.env, capture_output=True, text=True)
        found = {op["name"]: (op["self_ps"] / 1e6, op["calls"]) for op in json.loads(done.stdout)["ops"]}
        assert rows.items() <= found.items()
    else:
        assert top(place, events["traceEvents"], *args)[0] == rows


@pytest.mark.parametrize("file,is_user", [
    ("/home/me/train.py", True), ("C:\\work\\train.py", True), ("train.py", True),
    ("/opt/venv/lib/python3.11/site-packages/flax/core.py", False), ("/usr/lib/python3/dist-packages/x/y.py", False),
    ("/usr/lib/python3.11/contextlib.py", False), ("C:\\Python311\\Lib\\threading.py", False),
    ("C:\\env\\Lib\\site-packages\\torch\\_ops.py", False), ("<frozen importlib._bootstrap>", False), ("<string>", False),
    ("/opt/conda/IPython/core/interactiveshell.py", False), ("/opt/conda/ipykernel/kernelbase.py", False), ("torch/_ops.py", False),
    ("/tmp/ipykernel_12/34.py", True), ("/home/me/my-site-packages/a.py", True), ("/home/me/lib/pythonic/a.py", True),
    ("/home/me/python/train.py", True), ("/home/me/torch_models/a.py", True), ("/home/me/frozen/a.py", True),
])
def test_frames_of_libraries_are_never_the_source(place, file, is_user):
    events = [event("python_function", "/home/me/main.py(1): main", 1, 1, 0, 1000),
              event("python_function", f"{file}(7): f", 1, 1, 1, 900),
              event("cpu_op", "aten::mm", 1, 1, 10, 300), *launched(1, 30, "gemm", 80)]
    (row,) = top(place, events, "--group", "source")[0]
    assert row == (f"{file}:7" if is_user else "/home/me/main.py:1")
