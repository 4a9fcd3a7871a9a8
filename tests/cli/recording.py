"""Programs to record: compiled here, against NVTX's own headers (a wheel), never against ours."""
import gzip
import importlib.util
import json
import os
import pathlib
import re
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAIT = 60
ADAPTERS = re.search(r"set\(VP_ADAPTERS ([^)]*)\)", (ROOT / "scripts" / "recorder.cmake").read_text()).group(1).split()


def nvtx_headers():
    """Where the wheel nvidia-nvtx-cu12 has put them; scripts/requirements-test.txt installs it."""
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations if spec else []:
        headers = pathlib.Path(place) / "nvtx" / "include"
        if (headers / "nvtx3" / "nvToolsExt.h").exists():
            return headers
    raise AssertionError("no NVTX headers: pip install -r scripts/requirements-test.txt")


def library(program, name="libview_profile_nvtx.so"):
    path = pathlib.Path(program).parent / name
    assert path.exists(), f"{path} is missing: build the target {name[3:-3]}"
    return path


def sanitizer(program):
    """A library with AddressSanitizer needs a program that has it."""
    needed = subprocess.run(["ldd", library(program, "libview_profile_capture.so")],
                            capture_output=True, text=True, check=True).stdout
    return ["-fsanitize=address,undefined"] if "libasan" in needed else []


def compile_c(program, out, source, *flags):
    subprocess.run(["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *sanitizer(program), str(source),
                    *map(str, flags), "-ldl", "-lpthread", "-o", str(out)], check=True)
    return out


def recorder(program):
    """Flags of a program that is linked against the recorder."""
    libraries = pathlib.Path(program).parent
    return [f"-I{ROOT / 'include'}", f"-L{libraries}", "-lview_profile_capture", f"-Wl,-rpath,{libraries}"]


def compile_linked(program, out, text):
    """Such a program, of one file with this text."""
    source = out.with_suffix(".c")
    source.write_text(text)
    return compile_c(program, out, source, *recorder(program))


def runs(directory):
    """The run directories below a profile directory, oldest first."""
    return sorted(pathlib.Path(directory).glob("plugins/profile/*"))


def events(run):
    (file,) = run.glob("*.trace.json.gz")
    return json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]


def zones(run, name=None):
    return [e for e in events(run) if e["ph"] == "X" and name in (None, e["name"])]


def names(run):
    out = {}
    for e in zones(run):
        out[e["name"]] = out.get(e["name"], 0) + 1
    return out


def steps(run):
    return [e["args"]["step_num"] for e in zones(run) if "step_num" in e.get("args", {})]


def ask(runtime, pid, line):
    """One line to the control socket of a process, and its answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(pathlib.Path(runtime) / "view_profile" / f"{pid}.sock"))
        s.sendall(line.encode() + b"\n")
        return json.loads(s.makefile().readline())


def until(what, seconds=WAIT):
    """What `what` returns once that is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it does not come to that")


def environment(place, **more):
    """Without what the tests themselves are told by VIEW_PROFILE."""
    outer = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    return {**outer, **place.env, **more}
