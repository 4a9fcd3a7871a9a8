"""Findings of PyTorch profiles that were made here, with and without a device."""
import json
import subprocess

BASE = 2_493_828_094_901.425  # µs since boot, as Kineto writes times


def event(cat, name, ts, dur, tid=100, pid=100, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": BASE + ts, "dur": dur, "args": args}


def run(place, events, *args, name="t.pt.trace.json", **top):
    path = place.dir / name
    path.write_text(json.dumps({"schemaVersion": 1, **top, "traceEvents": events}))
    done = subprocess.run(["view_profile", *args, path, "--format", "json"], env=place.env, cwd=place.dir,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def findings(place, events, **top):
    """{id: finding}, in rank order."""
    return {f["id"]: f for f in run(place, events, "findings", **top)["findings"]}


def fired(found):
    return [i for i, f in found.items() if f["status"] == "fired"]


def launched(correlation, ts, dur=80, kernel=True):
    """An operator that launches a kernel, which begins 10 us later."""
    call = [event("cpu_op", "aten::mm", ts, 18, **{"External id": correlation}),
            event("cuda_runtime", "cudaLaunchKernel", ts + 4, 6, correlation=correlation)]
    return call + kernel * [event("kernel", "gemm", ts + 14, dur, pid=0, tid=7, device=0, stream=7,
                                  correlation=correlation)]


def gpu_steps(has_kernel=lambda n: True, count=10, first=3):
    """Steps of 400 us with four launches each."""
    out = []
    for n in range(count):
        for i in range(4):
            out += launched(4 * n + i + 1, 400 * n + 100 * i + 1, kernel=has_kernel(4 * n + i))
        out.append(event("user_annotation", f"ProfilerStep#{first + n}", 400 * n, 400))
    return out


# ---- F23: incomplete ----


def test_kernels_without_a_launch_partner_are_told(place):
    found = findings(place, gpu_steps(lambda i: i >= 16))["F23"]
    assert (found["status"], found["severity"]) == ("fired", "medium")
    assert "16 of 40 launch calls have no kernel, all before 1.6 ms; steps 3–6 have no device time" in found["message"]
    found = findings(place, gpu_steps(lambda i: i < 36))["F23"]
    assert found["status"] == "clear"  # the last tenth ran after the end of the capture
    found = findings(place, gpu_steps(lambda i: i < 30))["F23"]
    assert "10 of 40 launch calls have no kernel, all after" in found["message"]
    assert "steps 11–12 have no device time" in found["message"]
    found = findings(place, gpu_steps(lambda i: i % 4))["F23"]
    assert "10 of 40 launch calls have no kernel." in found["message"]  # in every step some
    assert findings(place, gpu_steps())["F23"]["status"] == "clear"


def test_launches_into_a_graph_that_is_recorded_have_no_kernel(place):
    capture = [event("cuda_runtime", "cudaStreamBeginCapture", 0, 1), event("cuda_runtime", "cudaStreamEndCapture", 1590, 1)]
    assert findings(place, gpu_steps(lambda i: i >= 16) + capture)["F23"]["status"] == "clear"


def memory(ts, kind):
    """An allocation: kind 1 is on GPU 0, kind 0 on the CPU."""
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": 100, "ts": BASE + ts,
            "args": {"Total Reserved": 4194304, "Total Allocated": 2000000, "Bytes": 1000, "Addr": 1400, "Device Id": kind - 1,
                     "Device Type": kind}}


def test_a_gpu_that_is_used_but_not_recorded(place):
    ops = [event("cpu_op", name, 100 * i, 60) for i, name in enumerate(["aten::addmm", "aten::relu"] * 10)]
    conv = [event("cpu_op", "aten::cudnn_convolution", 2000, 60)]
    found = findings(place, ops + conv + [memory(5, 1)])["F23"]
    assert found["status"] == "fired"
    assert "GPU 0 is used (its memory is allocated, aten::cudnn_convolution runs) but was not recorded" in found["message"]
    assert "ProfilerActivity.CUDA" in found["suggestion"]
    assert "a GPU is used (aten::cudnn_convolution runs)" in findings(place, ops + conv)["F23"]["message"]
    assert "GPU 0 is used (its memory is allocated)" in findings(place, ops + [memory(5, 1)])["F23"]["message"]
    assert findings(place, ops)["F23"]["status"] == "clear"
    assert findings(place, ops + [memory(5, 0)])["F23"]["status"] == "clear"  # memory of the CPU
    assert findings(place, gpu_steps() + conv + [memory(5, 1)])["F23"]["status"] == "clear"


def test_events_without_a_time_are_left_out_wherever_they_are(place):
    whole = gpu_steps(count=4)
    lost = [e | {"ts": 0.0, "dur": 0.0} for e in gpu_steps(count=8) if e["cat"] == "kernel" and e["ts"] > BASE + 1600]
    names = [{"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    assert len(lost) == 16
    answers = []
    for events in (names + lost + whole, names + whole + lost, whole[:7] + lost + names + whole[7:]):
        made = run(place, events, "report")
        op, = made["ops"]
        assert (op["calls"], op["mean_ps"]) == (16, 80_000_000)
        assert made["devices"][0]["breakdown"]["window_ps"] == 1_580_000_000
        assert [q["message"] for q in made["quality"] if q["code"] == "no-time"] == ["16 kernels have no time and are left out"]
        answers.append([(f["id"], f["status"], f["message"]) for f in made["findings"]])
    assert answers[0] == answers[1] == answers[2]
    mixed = lost + [{**whole[0], "ts": 0, "dur": 0}]
    for events in (mixed + whole, whole + mixed):
        assert "17 events have no time and are left out, 16 of them kernels" in findings(place, events)["F23"]["message"]


def test_time_zero_is_a_time_where_others_are_near(place):
    """Times that count from the start of the recording: the first event is at 0."""
    events = [e | {"ts": round(e["ts"] - BASE, 3)} for e in gpu_steps(count=4)]
    events.append({"ph": "X", "cat": "cpu_op", "name": "first", "pid": 100, "tid": 100, "ts": 0, "dur": 0.5})
    for order in (events, events[-1:] + events[:-1]):
        made = run(place, order, "report")
        assert not [q for q in made["quality"] if q["code"] in ("no-time", "bad-event")]
        assert made["analysis"]["events"] == len(events)


# ---- without a device ----


def cpu_steps(load, count=6, rest=4000, before=()):
    """Steps of `rest` us of training and the events of load(start), which come first and return their length."""
    out, at = list(before), 0
    for n in range(count):
        events, took = load(at + 10)
        train = at + 10 + took
        out += [event("user_annotation", f"ProfilerStep#{n}", at, took + rest + 20), *events,
                event("cpu_op", "aten::linear", train + 100, rest // 2 - 200),
                event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", train + rest // 2, rest // 4),
                event("user_annotation", "Optimizer.step#SGD.step", train + 3 * rest // 4, rest // 8)]
        at += took + rest + 30
    return out


def frame(name, ts, dur):
    return event("python_function", name, ts, dur)


def loader(took, kind="_SingleProcessDataLoaderIter", inner=lambda ts: []):
    return lambda ts: ([frame("/app/train.py(20): train", ts - 5, took + 10),
                        frame("torch/utils/data/dataloader.py(720): __next__", ts, took),
                        event("user_annotation", f"enumerate(DataLoader)#{kind}.__next__", ts + 1, took - 2), *inner(ts)], took)


def impact(finding):
    return finding["impact"]["time_ps"]


def test_a_loader_on_the_training_thread(place):
    """6 of 10 ms in each step: two workers would hide it all."""
    found = findings(place, cpu_steps(loader(6000)))
    first = found["F14"]
    assert list(found)[0] == "F14" and (first["status"], first["severity"]) == ("fired", "high")
    assert first["title"] == "Input-bound: training waits for data"
    assert impact(first) == 6 * 6000 * 10**6
    assert "6 calls of enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" in first["message"]
    assert "called by train (/app/train.py:20)" in first["message"] and "in each of 6 steps" in first["message"]
    assert "worker processes" in first["suggestion"] and "GIL" in first["suggestion"]


def test_a_loader_that_sets_the_pace_even_with_workers(place):
    """20 of 24 ms: two workers take 10 ms a batch, so 6 ms remain exposed."""
    found = findings(place, cpu_steps(loader(20000)))["F14"]
    window = found["impact"]["window_ps"]
    input_ps = 6 * 20000 * 10**6
    assert impact(found) == input_ps - (input_ps // 2 - (window - input_ps))
    assert "with two workers, the loader would still set the pace" in found["message"]
    found = findings(place, cpu_steps(loader(20000, "_MultiProcessingDataLoaderIter")))["F14"]
    assert impact(found) == input_ps and "more workers" in found["suggestion"]


def test_waiting_in_a_loader_is_no_lock_contention(place):
    """The loader sleeps: that is input, and no second finding of the same time."""
    def sleeps(ts):
        return [frame("/app/data.py(8): __getitem__", ts + 10, 5900), frame("<built-in function sleep>", ts + 20, 5800)]

    found = findings(place, cpu_steps(loader(6000, inner=sleeps)))
    assert fired(found)[0] == "F14" and "mostly in __getitem__ (/app/data.py:8)" in found["F14"]["message"]
    assert "waits for storage" in found["F14"]["suggestion"]
    assert (found["F25"]["status"], found["F25"]["explained_by"]) == ("explained", ["F14"])
    assert sum(impact(f) or 0 for f in found.values() if f["status"] == "fired") <= found["F14"]["impact"]["window_ps"]


def test_iterators_of_the_user_are_input_unless_they_train(place):
    def pull(ts):
        return [frame("<built-in function next>", ts, 6000), frame("/app/data.py(3): rows", ts + 1, 5990)], 6000

    found = findings(place, cpu_steps(pull))["F14"]
    assert found["status"] == "fired" and "mostly in rows (/app/data.py:3)" in found["message"]
    whole = [frame("<built-in function next>", -1, 70000)]  # a generator that runs the training loop
    assert findings(place, cpu_steps(lambda ts: ([], 0), before=whole))["F14"]["status"] == "clear"


def test_garbage_collection_without_a_device(place):
    def collect(ts):
        return [frame("/app/train.py(20): train", ts - 5, 4010), frame("<built-in function collect>", ts, 4000)], 4000

    found = findings(place, cpu_steps(collect))
    assert fired(found)[0] == "F41" and impact(found["F41"]) == 6 * 4000 * 10**6
    assert "6 calls of collect, called by train (/app/train.py:20)" in found["F41"]["message"]
    found = findings(place, cpu_steps(lambda ts: ([event("user_annotation", "Python GC", ts, 4000)], 4000)))
    assert fired(found)[0] == "F41"


def test_checkpoints_without_a_device(place):
    def save(ts):
        return [frame("/app/train.py(20): train", ts - 5, 4010), frame("torch/serialization.py(900): save", ts, 4000)], 4000

    found = findings(place, cpu_steps(save))
    assert fired(found)[0] == "F42" and "save" in found["F42"]["message"]


# ---- torch.compile ----


def compiled(frame_id, number, ts, dur, annotated=True):
    """A compilation of 90% of `dur` and the region that runs then."""
    took = dur * 9 // 10
    out = [event("cpu_op", "entire_frame_compile", ts, took),
           event("cpu_op", "_compile.compile_inner (dynamo_timed)", ts + 2, took - 4),
           event("cpu_op", "backend_compile", ts + took // 4, took // 2),
           event("cpu_op", "async_compile.wait", ts + took // 2, took // 8)]
    if annotated:
        out.append(event("user_annotation", f"entire_frame_compile_data: fn_name=f, compile_id={frame_id}/{number}", ts + 1, 1))
    return out + [event("cpu_op", f"Torch-Compiled Region: {frame_id}/{number}", ts + took + 10, dur - took - 20)]


def test_recompiles_of_a_frame(place):
    for annotated in (True, False):
        events = [frame("/app/train.py(20): train", -1, 400_000)]
        for n in range(5):
            events += compiled(0, n, (0, 200_000, 240_000, 280_000, 320_000)[n], 200_000 if not n else 40_000, annotated)
        found = findings(place, events)
        late = 4 * 36_000 * 10**6
        assert fired(found)[:2] == ["F10", "F11"]
        assert impact(found["F10"]) == late and impact(found["F11"]) == 180_000 * 10**6
        assert "frame 0 (0/0…0/4) is compiled 5 times (4 after execution started)" in found["F10"]["message"]
        assert "called by train (/app/train.py:20)" in found["F10"]["message"]
        assert found["F10"]["impact"]["window_ps"] == (400_000 - 1 - 180_000) * 10**6  # after the first compile
        assert "after the first one" in found["F10"]["message"]
        assert found["F25"]["status"] != "fired"  # waits inside compilation
        assert sum(impact(f) or 0 for f in found.values() if f["status"] == "fired") <= 400_001 * 10**6


def test_frames_that_were_compiled_before_the_capture(place):
    """0/4 to 0/6: not even the first compile was necessary. The end of the profiler is no part of the window."""
    events = [frame("/app/train.py(20): train", 0, 150_000), event("Trace", "PyTorch Profiler (0)", 0, 900_000, tid="PyTorch Profiler", pid="Spans")]
    for n in range(3):
        events += compiled(0, 4 + n, 50_000 * n, 40_000)
        events.append(frame("/app/model.py(7): encode", 50_000 * n + 36_015, 3_900))  # the region runs it
    found = findings(place, events)["F10"]
    assert (found["status"], impact(found), found["impact"]["window_ps"]) == ("fired", 3 * 36_000 * 10**6, 150_000 * 10**6)
    assert "frame 0 (0/4…0/6): encode (/app/model.py:7) is compiled 3 times" in found["message"]
    assert found["evidence"]["denominator"] == "rest of the capture"


def test_frames_with_hostile_numbers_and_without_a_compile(place):
    """Regions that were compiled before the capture, and the largest number."""
    events = [event("cpu_op", "Torch-Compiled Region: 3/0", 0, 80)] + compiled(0, 2**63 - 1, 1000, 40_000)
    made = run(place, events, "report")
    assert [f["function"] for f in made["compile"]["functions"]] == ["frame 0", "frame 3"]


def test_frames_that_are_compiled_once(place):
    events = [e for n in range(3) for e in compiled(n, 0, 100_000 * n, 100_000)]
    found = findings(place, events)
    assert found["F10"]["status"] == "clear" and fired(found)[0] == "F11"


# ---- words ----


def test_programs_of_pytorch_are_not_told_to_add_zones(place):
    events = [event("cpu_op", name, 1000 * i, 800 if name == "aten::mm" else 100)
              for i, name in enumerate(["aten::mm", "aten::add", "aten::relu"] * 20)]
    found = findings(place, events)["F27"]
    assert found["title"] == "One op dominates" and "zone" not in found["suggestion"]
    for f in findings(place, events + gpu_steps()).values():
        assert "jax" not in (f["suggestion"] or "").lower() and "zone" not in (f["suggestion"] or "")


# ---- how the program is written ----


def test_evaluation_that_records_autograd(place):
    """6 of 10 ms train, 3 ms evaluate with autograd; under no_grad operators have no sequence number."""
    def step(grad):
        def load(ts):
            numbers = {"Sequence number": int(ts), "Fwd thread id": 0}
            return [event("cpu_op", "aten::linear", ts + 300 * i, 280, **(numbers | {"Sequence number": int(ts) + i} if grad else {}))
                    for i in range(10)], 3000
        return load

    train = [event("cpu_op", "aten::mm", 900_000, 5, **{"Sequence number": 7, "Fwd thread id": 0}),
             event("cpu_op", "MmBackward0", 900_010, 5, **{"Sequence number": 7, "Fwd thread id": 1})]
    found = findings(place, cpu_steps(step(True), rest=6000, count=40) + train)["F45"]
    assert (found["status"], found["severity"]) == ("fired", "low"), found
    assert "Autograd records 400 of 401 operations" in found["message"] and "inference_mode" in found["suggestion"]
    assert findings(place, cpu_steps(step(False), rest=6000, count=40) + train)["F45"]["status"] == "clear"


def test_optimizers_that_loop_over_parameters(place):
    def optimizer(name, count):
        return lambda ts: ([event("user_annotation", "Optimizer.step#Adam.step", ts, 2000),
                            *[event("cpu_op", name, ts + 1 + 2000 // count * i, 10) for i in range(count)]], 2000)

    found = findings(place, cpu_steps(optimizer("aten::addcmul_", 50)))["F46"]
    assert found["status"] == "fired" and "Adam.step updates parameters one by one" in found["message"]
    assert "fused=True" in found["suggestion"]
    assert findings(place, cpu_steps(optimizer("aten::_foreach_addcmul_", 50)))["F46"]["status"] == "clear"
    assert findings(place, cpu_steps(optimizer("aten::addcmul_", 4)))["F46"]["status"] == "clear"


def test_graph_breaks(place):
    def regions(count, resume):
        events = []
        for n in range(6):
            for part in range(count):
                events.append(event("cpu_op", f"Torch-Compiled Region: {part}/0", 1000 * n + 100 * part, 80))
                if part and resume:
                    events.append(frame("/app/m.py(3): torch_dynamo_resume_in_f_at_5", 1000 * n + 100 * part - 10, 95))
        return events

    found = findings(place, regions(4, True))["F44"]
    assert (found["status"], found["severity"], found["evidence"]["value"]) == ("fired", "medium", 3)
    assert "18 times in 6 calls (4 compiled frames)" in found["message"] and "torch_dynamo_resume_in_f_at_5" in found["message"]
    found = findings(place, regions(3, False))["F44"]
    assert "runs 3 regions instead of one, 6 times: 2 graph breaks per call" in found["message"]
    assert findings(place, regions(1, False))["F44"]["status"] == "clear"


def test_recording_that_slows_the_program(place):
    events = [event("cpu_op", "aten::add", 2 * i, 1) for i in range(2000)]
    found = findings(place, events)["F43"]
    assert found["status"] == "fired" and "2,000 host events" in found["message"] and "with_stack" in found["suggestion"]
    assert findings(place, [event("cpu_op", "aten::add", 20 * i, 10) for i in range(2000)])["F43"]["status"] == "clear"


# ---- what changes would save, without a device ----


def in_steps(events, count=6, length=10_000):
    """Steps of `length` us of train, each with the events of events(start, step)."""
    out = [frame("/app/train.py(20): train", -1, count * length)]
    for n in range(count):
        out += [event("user_annotation", f"ProfilerStep#{n}", n * length, length - 10), *events(n * length + 100, n)]
    return out


def op(name, ts, dur, **args):
    return event("cpu_op", name, ts, dur, **args)


def read_in_loop(count, inner=False):
    """count_correct takes 50 us per element: it selects one and reads it, if `inner` in a function of its own."""
    def events(ts, _):
        out = [frame("/app/count.py(7): count_correct", ts, 50 * count)]
        for k in range(count):
            at = ts + 50 * k
            out += [frame("/app/count.py(3): match", at, 48)] * inner
            out += [op("aten::select", at + 1, 10), frame(f"<built-in method item of Tensor object at 0x{k:x}>", at + 12, 20),
                    op("aten::item", at + 13, 10), op("aten::_local_scalar_dense", at + 14, 5)]
        return out
    return events


def test_values_that_are_read_in_a_loop(place):
    found = findings(place, in_steps(read_in_loop(100)))
    first = found["F54"]
    assert list(found)[0] == "F54" and (first["status"], first["severity"]) == ("fired", "high"), first
    assert "count_correct (/app/count.py:7) reads values one by one with aten::item: 600 passes in 6 loops" in first["message"]
    loop = 99 * 50 + 10  # us from the first select to the last, 10 us long; item begins 12 us later
    assert impact(first) == 6 * (loop + 2) * 10**6 * 99 // 100 or impact(first) == 6 * loop * 10**6 * 99 // 100
    assert found["F55"]["status"] == "clear" and found["F25"]["status"] == "clear"
    assert "with match (/app/count.py:3)" in findings(place, in_steps(read_in_loop(100, inner=True)))["F54"]["message"]
    assert findings(place, in_steps(read_in_loop(8)))["F54"]["status"] == "clear"


def test_values_that_are_read_in_a_loop_without_frames(place):
    events = [e for e in in_steps(read_in_loop(100)) if e["cat"] != "python_function"]
    found = findings(place, events)["F54"]
    assert (found["status"], found["severity"]) == ("fired", "high")
    assert "The program reads values one by one with aten::item: 600 passes in 6 loops" in found["message"]
    layers = [e for e in in_steps(lambda ts, _: [op("aten::linear", ts + 20 * k, 15) for k in range(40)]) if e["cat"] != "python_function"]
    assert findings(place, layers)["F55"]["status"] == "clear"


def test_a_loop_is_within_one_step(place):
    """One value read in each of 40 steps is no loop, although one call of train does it."""
    def log(ts, _):
        return [op("aten::mm", ts, 500), op("aten::item", ts + 600, 300)]

    found = findings(place, in_steps(log, count=40, length=1000))
    assert found["F54"]["status"] == "clear" and found["F55"]["status"] == "clear"


def model_in_loop(count, mm, dims="[[1, 64], [64, 64]]"):
    """predict calls a model for each sample, forward 60 us, and its backward pass of 100 us runs after the loop."""
    def events(ts, n):
        out = [frame("/app/model.py(14): predict", ts, 60 * count), frame("/app/model.py(15): <listcomp>", ts, 60 * count)]
        shapes = {"Input Dims": json.loads(dims), "Input type": ["float", "float"]}
        for k in range(count):
            at, number = ts + 60 * k, {"Sequence number": 1000 * n + k, "Fwd thread id": 0}
            out += [frame("nn.Module: Net_0", at, 58), frame("torch/nn/modules/linear.py(130): forward", at + 1, 56),
                    op("aten::mm", at + 2, mm, **number, **shapes)]
        back = ts + 60 * count + 10
        out.append(frame("torch/_tensor.py(566): backward", back, 100 * count))
        for k in range(count):
            number = {"Sequence number": 1000 * n + count - 1 - k, "Fwd thread id": 1}
            out.append(op("autograd::engine::evaluate_function: MmBackward0", back + 1 + 100 * k, 15, **number))
        return [*out, op("aten::add_", back + 100 * count, 1)]
    return events


def test_a_model_that_is_called_for_each_sample(place):
    found = findings(place, in_steps(model_in_loop(40, mm=15)))
    first = found["F55"]
    assert list(found)[0] == "F55" and (first["status"], first["severity"]) == ("fired", "medium"), first
    assert "predict (/app/model.py:14) calls Net_0 240 times in 6 loops" in first["message"]
    forward, backward = 39 * 60 + 58, 39 * 100 + 15  # the engine's time between its operators counts
    assert impact(first) == 6 * (forward + backward) * 10**6 * 39 // 40
    # what an operator takes beyond 20 us is work, unless it multiplies with a vector, which loads the matrix each time
    found = findings(place, in_steps(model_in_loop(40, mm=50, dims="[[512, 64], [64, 64]]")))["F55"]
    assert impact(found) == 6 * (forward + backward - 40 * 30) * 10**6 * 39 // 40
    found = findings(place, in_steps(model_in_loop(40, mm=50)))["F55"]
    assert impact(found) == 6 * (forward + backward) * 10**6 * 39 // 40
    assert findings(place, in_steps(model_in_loop(12, mm=15)))["F55"]["status"] == "clear"


def test_layers_that_are_called_in_a_loop_are_different_modules(place):
    def layers(ts, _):
        out = [frame("/app/model.py(9): forward", ts, 4000)]
        for k in range(40):
            out += [frame(f"nn.Module: Block_{k}", ts + 100 * k, 98), op("aten::linear", ts + 100 * k + 5, 15)]
        return out

    assert findings(place, in_steps(layers))["F55"]["status"] == "clear"


def test_operators_on_float64(place):
    """5 of 10 ms in each step, of which 4 ms multiply; the nested operator is no time of its own."""
    def step(kind):
        def events(ts, _):
            types = {"Input type": [kind, kind, "Scalar"], "Input Dims": [[64, 64], [64, 64], []]}
            return [frame("/app/fit.py(5): fit", ts, 6000), op("aten::linear", ts + 10, 4100, **types),
                    op("aten::addmm", ts + 20, 4000, **types), op("aten::relu", ts + 4200, 900, **types),
                    op("aten::add", ts + 5200, 700, **{"Input type": ["float", "float"]})]
        return events

    found = findings(place, in_steps(step("double")))
    first = found["F47"]
    assert list(found)[0] == "F47" and first["severity"] == "high" and impact(first) == 6 * 5000 * 10**6 // 2
    assert "most in aten::addmm in fit (/app/fit.py:5) (6 calls, 24.00 ms), then aten::relu" in first["message"]
    assert findings(place, in_steps(step("float")))["F47"]["status"] == "clear"
    assert findings(place, [{**e, "args": {}} for e in in_steps(step("double"))])["F47"]["status"] == "clear"
    scalar = {"Input type": ["float", "double"], "Input Dims": [[64, 64], []]}  # x / 3
    assert findings(place, in_steps(lambda ts, _: [op("aten::div", ts, 5000, **scalar)]))["F47"]["status"] == "clear"


def test_copies_that_change_the_layout(place):
    def events(ts, _):
        return [frame("/app/net.py(14): encode", ts, 6000), op("aten::contiguous", ts + 10, 2000),
                op("aten::clone", ts + 20, 1980), op("aten::copy_", ts + 30, 1950),
                op("aten::reshape", ts + 2100, 1000), op("aten::clone", ts + 2110, 980), op("aten::copy_", ts + 2120, 950),
                op("aten::clone", ts + 3200, 500), op("aten::copy_", ts + 3210, 480),  # a plain copy
                op("aten::mm", ts + 4000, 1500)]

    found = findings(place, in_steps(events))
    first = found["F19"]
    assert list(found)[0] == "F19" and first["severity"] == "high" and impact(first) == 6 * 2960 * 10**6
    assert "most in aten::contiguous in encode (/app/net.py:14) (6 calls, 11.88 ms), then aten::reshape" in first["message"]


def backward_in(function, gradients=4, uses=0, optimizer=False):
    def events(ts, n):
        number = {"Sequence number": n, "Fwd thread id": 0}
        out = [frame(f"/app/eval.py(14): {function}", ts, 6000), op("aten::linear", ts + 10, 2000, **number),
               op("autograd::engine::evaluate_function: AddmmBackward0", ts + 2100, 3000, **(number | {"Fwd thread id": 1}))]
        out += [op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", ts + 5100 + 20 * k, 10)
                for k in range(gradients)]
        out += [op("aten::sub_", ts + 5500 + 20 * k, 10) for k in range(uses)] + [op("aten::item", ts + 5900, 2)]
        return out + optimizer * [event("user_annotation", "Optimizer.step#SGD.step", ts + 7000, 50)]
    return events


def test_gradients_that_nothing_uses(place):
    found = findings(place, in_steps(backward_in("evaluate")))
    first = found["F45"]
    assert list(found)[0] == "F45" and (first["severity"], impact(first)) == ("high", 6 * 3070 * 10**6), first
    assert "gradients of 6 backward passes in evaluate (/app/eval.py:14)" in first["message"]
    assert findings(place, in_steps(backward_in("train")))["F45"]["severity"] == "low"  # may accumulate
    assert findings(place, in_steps(backward_in("evaluate", uses=4)))["F45"]["status"] == "clear"
    assert findings(place, in_steps(backward_in("evaluate", optimizer=True)))["F45"]["status"] == "clear"
    assert findings(place, in_steps(backward_in("evaluate", gradients=0)))["F45"]["status"] == "clear"


def test_gradients_that_are_cleared_before_an_optimizer_uses_them(place):
    """Training with an optimizer, and a backward pass of a check in each step."""
    def both(passes, clear=True):
        def events(ts, n):
            out = [frame("/app/loop.py(5): step", ts, 9000)]
            for k, (function, at) in enumerate(passes):
                number = {"Sequence number": 100 * n + k, "Fwd thread id": 0}
                out += [frame(f"/app/loop.py({9 + k}): {function}", ts + at, 3000), op("aten::linear", ts + at + 10, 900, **number),
                        op("autograd::engine::evaluate_function: AddmmBackward0", ts + at + 1000, 1500, **(number | {"Fwd thread id": 1})),
                        *[op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", ts + at + 2510 + 20 * i, 10) for i in range(4)]]
            out += [event("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", ts + 990, 5)] * clear
            return out + [event("user_annotation", "Optimizer.step#SGD.step", ts + 3100, 200), op("aten::_fused_sgd_", ts + 3110, 100)]
        return events

    found = findings(place, in_steps(both([("train", 0), ("check", 4000)])))["F45"]
    assert (found["status"], found["severity"]) == ("fired", "high") and impact(found) == 5 * 1580 * 10**6, found
    assert "5 backward passes in check (/app/loop.py:10)" in found["message"] and "zero_grad clears them" in found["message"]
    assert findings(place, in_steps(both([("train", 0)])))["F45"]["status"] == "clear"
    assert findings(place, in_steps(both([("train", 0), ("check", 4000)], clear=False)))["F45"]["status"] == "clear"  # accumulates


def test_what_a_fused_optimizer_saves(place):
    """50 parameters with 3 operators each: 10 us, 10 us and 30 us, and 10 us after each of them."""
    def optimizer(step):
        def events(ts, _):
            out, at = [event("user_annotation", f"Optimizer.step#{step}.step", ts, 4000)], ts
            for _ in range(50):
                for name, dur in (("aten::mul_", 10), ("aten::addcmul_", 10), ("aten::addcdiv_", 30)):
                    out.append(op(name, at + 5, dur))
                    at += dur + 10
            return out
        return events

    found = findings(place, in_steps(optimizer("Adam")))["F46"]
    between, overhead, work = 50 * 30, 150 * 10, 50 * 20
    assert (found["status"], found["severity"]) == ("fired", "high")
    assert abs(impact(found) - 6 * ((between + overhead) * 49 // 50 + work * 2 // 3) * 10**6) <= 10**6 * 6
    assert impact(findings(place, in_steps(optimizer("RMSprop")))["F46"]) == 6 * between * 10**6 * 49 // 50  # no fused form
