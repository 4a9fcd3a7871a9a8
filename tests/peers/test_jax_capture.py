"""`view_profile capture` of JAX programs that run: three times in a row, two processes as two hosts, while one compiles,
ended before its time, busy; and XProf's own client beside it. Their loop is tests/peers/train_loop.py."""
import json
import pathlib
import signal
import socket
import subprocess
import time

import pytest
from conftest import JAX, find_program

HERE = pathlib.Path(__file__).resolve().parent
WAIT = 180


class Loop:
    """A training loop that runs until the test ends."""

    def __init__(self, *options):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.target = f"127.0.0.1:{port}"
        self.host = self.target.replace(":", "_")
        self.process = subprocess.Popen([JAX, str(HERE / "train_loop.py"), str(port), *options], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=WAIT)


@pytest.fixture(scope="module")
def loop():
    with Loop() as one:
        yield one


def start(*args, **more):
    return subprocess.Popen([find_program(), "capture", *map(str, args)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


def capture(*args):
    child = start(*args)
    out, said = child.communicate(timeout=WAIT)
    assert child.returncode == 0, said
    return out, said


def end(out):
    return json.loads(out.splitlines()[-1])


def report(path):
    done = subprocess.run([find_program(), "report", "--format", "json", str(path)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def files(out):
    return sorted((out / "plugins" / "profile").rglob("*.xplane.pb"))


def test_three_times_in_a_row(loop, tmp_path):
    """Each time the slowest ops are those of that loop, in its scopes, with its steps."""
    first = []
    for _ in range(3):
        out, said = capture(loop.target, "--duration", "1s", "--out", tmp_path)
        assert said == ""
        rows = out.splitlines()
        head = next(i for i, row in enumerate(rows) if row.split()[:2] == ["self", "ms"])
        first.append(rows[head + 1].split()[-1])
        assert f"page: view_profile serve --profile-dir {tmp_path}, then http://127.0.0.1:90" in out
    assert len(files(tmp_path)) == 3
    for file, shown in zip(sorted(files(tmp_path), key=lambda f: f.stat().st_mtime_ns), first):
        made = report(file.parent)
        assert not any(q["severity"] == "error" for q in made["quality"])
        assert 0.8e12 < made["window"]["end_ps"] - made["window"]["start_ps"] < 2e12
        scopes = {o["scope"] for o in made["ops"] if o["scope"]}
        slowest = max(made["ops"], key=lambda o: o["self_ps"])
        assert any("encoder" in s for s in scopes) and any("decoder" in s for s in scopes)
        assert slowest["name"] == shown
        assert slowest["class"] == "compute" and slowest["scope"].startswith("jit(step)/")
        assert made["steps"]["source"] == "annotation" and made["steps"]["count"] > 10
        numbers = [s["number"] for s in made["steps"]["list"]]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_two_processes_are_two_hosts_of_one_run(loop, tmp_path):
    with Loop() as other:
        out, _ = capture(f"{loop.target},{other.target}", "--duration", "1s", "--out", tmp_path, "--format", "json")
    said = end(out)
    assert said["ok"] and 0 <= said["spread_ms"] < 500
    (run,) = {f.parent for f in files(tmp_path)}
    assert sorted(report(run)["session"]["hosts"]) == sorted([loop.host, other.host])


def test_while_it_compiles(tmp_path):
    """A compile in the middle of training is found in what was captured."""
    with Loop("--late") as late:
        capture(late.target, "--duration", "1500ms", "--out", tmp_path)
    made = report(tmp_path)
    assert made["compile"]["count"] > 0 and made["compile"]["total_ps"] > 0
    assert "step" in {f["function"] for f in made["compile"]["functions"] if f["compiles"]}
    assert "F10" in {f["id"] for f in made["findings"] if f["status"] == "fired"}


def test_an_interrupt_keeps_what_came(loop, tmp_path):
    child = start(loop.target, "--duration", "5m", "--out", tmp_path, "--format", "json", "--name", "short")
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    out, said = child.communicate(timeout=WAIT)
    assert child.returncode == 0, said
    assert 0.5e12 < report(tmp_path)["window"]["end_ps"] < 10e12


def test_only_one_at_a_time(loop, tmp_path):
    first = start(loop.target, "--duration", "3s", "--out", tmp_path, "--name", "first", "--format", "json")
    while '"profiling"' not in first.stdout.readline():
        pass
    second = start(loop.target, "--duration", "1s", "--out", tmp_path, "--name", "second", "--format", "json")
    out, said = second.communicate(timeout=WAIT)
    assert second.returncode == 6 and said.count("\n") == 1
    assert end(out)["targets"][0]["code"] == "busy", said
    first.communicate(timeout=WAIT)
    assert first.returncode == 0 and [f.parent.name for f in files(tmp_path)] == ["first"]


def test_an_option_that_the_server_does_not_know(loop, tmp_path):
    child = start(loop.target, "--duration", "200ms", "--out", tmp_path, "--option", "no_such_key=1")
    out, said = child.communicate(timeout=WAIT)
    assert child.returncode in (0, 6) and said.count("\n") <= 1  # builds for the CPU alone may not look at it


def test_a_look(loop):
    out, said = capture("--look", loop.target)
    assert out.startswith(f"{loop.target}: a profiler answers and can capture") and said == ""


def ops_of(path):
    """The op events of the devices, by XProf's own reader of the profile."""
    from jax.profiler import ProfileData
    return {e.name for p in ProfileData.from_file(str(path)).planes for line in p.lines
            for e in line.events if any(k == "hlo_op" for k, _ in e.stats)}


def test_xprofs_own_client_sees_the_same_ops(loop, tmp_path):
    client = pytest.importorskip("xprof.convert._pywrap_profiler_plugin", reason="SKIP: xprof is not installed")
    capture(loop.target, "--duration", "1s", "--out", tmp_path / "ours")
    options = {"host_tracer_level": 2, "device_tracer_level": 1, "python_tracer_level": 0}
    client.trace(loop.target, str(tmp_path / "theirs"), "", True, 1000, 3, options)
    (ours,), (theirs,) = files(tmp_path / "ours"), files(tmp_path / "theirs")
    assert ops_of(ours) == ops_of(theirs) != set()
    a, b = report(ours.parent), report(theirs.parent)
    assert {o["name"] for o in a["ops"]} == {o["name"] for o in b["ops"]}
    assert a["steps"]["source"] == b["steps"]["source"] == "annotation"


def test_xprof_reads_what_was_captured(loop, tmp_path):
    """The same session: what XProf says of the file's ops is what we say."""
    convert = pytest.importorskip("xprof.convert.raw_to_tool_data", reason="SKIP: xprof is not installed")
    capture(loop.target, "--duration", "1s", "--out", tmp_path)
    (file,) = files(tmp_path)
    timeline = json.loads(convert.xspace_to_tool_data([str(file)], "trace_viewer", {})[0])
    shown = {e["args"]["hlo_op"] for e in timeline["traceEvents"] if "hlo_op" in e.get("args", {})}
    assert shown and shown <= ops_of(file)
    assert {o.rstrip("0123456789").rstrip(".") for o in shown} <= {o["name"] for o in report(file.parent)["ops"]}
