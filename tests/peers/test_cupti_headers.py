"""The offsets by which trace/capture/gpu/cupti_decode.c reads CUPTI's records, held against NVIDIA's own
headers of CUDA 12 and 13 (wheels of scripts/requirements-peers.txt), in every version of every struct
that they declare."""
import importlib.util
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT

SOURCE = ROOT / "trace/capture/gpu/cupti_decode.c"
# Which structs our table's records stand for; Kernel up to 3 was CUDA 8's.
STRUCTS = {"Kernel": r"CUpti_ActivityKernel(?:[4-9]|1\d)", "Memcpy": r"CUpti_ActivityMemcpy\d?",
           "MemcpyPtoP": r"CUpti_ActivityMemcpyPtoP\d?", "Memset": r"CUpti_ActivityMemset\d?",
           "API": r"CUpti_ActivityAPI", "Overhead": r"CUpti_ActivityOverhead\d?"}


def headers(major):
    places = [pathlib.Path(p) for p in importlib.util.find_spec("nvidia").submodule_search_locations]
    # crt/host_defines.h, which has no wheel of its own before 13, only says what attributes are called.
    wanted = {12: ["cuda_cupti/include", "cuda_runtime/include", "cu13/include"],
              13: ["cu13/include"]}[major]
    found = [p / w for w in wanted for p in places if (p / w).is_dir()]
    assert len(found) == len(wanted), "pip install -r scripts/requirements-peers.txt"
    return found


def table():
    rows = re.findall(r"F\((\w+), (\w+), (\d+), (\d+)\)", SOURCE.read_text())
    assert len(rows) > 50 and {r[0] for r in rows} == set(STRUCTS)
    return rows


@pytest.mark.parametrize("major", [12, 13])
def test_offsets(tmp_path, major):
    include = headers(major)
    text = "".join((include[0] / f"cupti_activity{d}.h").read_text(errors="replace")
                   for d in ("", "_deprecated"))
    lines, structs = ["#include <stddef.h>", "#include <cupti.h>"], set()
    for record, field, offset, size in table():
        declared = set(re.findall(rf"\}} ({STRUCTS[record]});", text))
        assert declared, f"no struct of {record} in the headers"
        structs |= declared
        for s in sorted(declared):
            what = f'"{s}.{field}"'
            lines.append(f"_Static_assert(offsetof({s}, {field}) == {offset}, {what});")
            lines.append(f"_Static_assert(sizeof((({s} *)0)->{field}) == {size}, {what});")
    source = tmp_path / "offsets.c"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run(["gcc", "-std=gnu11", "-w", "-fsyntax-only", *[f"-I{i}" for i in include],
                           str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    assert len(structs) >= 8


@pytest.mark.parametrize("major", [12, 13])
def test_numbers(tmp_path, major):
    """Kinds, results and domains by their values."""
    ours = (ROOT / "trace/capture/gpu/cupti_decode.h").read_text()
    ours += (ROOT / "trace/capture/gpu/cupti_library.h").read_text()
    names = {"CUPTI_KIND_MEMCPY": "CUPTI_ACTIVITY_KIND_MEMCPY",
             "CUPTI_KIND_MEMSET": "CUPTI_ACTIVITY_KIND_MEMSET",
             "CUPTI_KIND_KERNEL": "CUPTI_ACTIVITY_KIND_KERNEL",
             "CUPTI_KIND_DRIVER": "CUPTI_ACTIVITY_KIND_DRIVER",
             "CUPTI_KIND_RUNTIME": "CUPTI_ACTIVITY_KIND_RUNTIME",
             "CUPTI_KIND_CONCURRENT_KERNEL": "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
             "CUPTI_KIND_OVERHEAD": "CUPTI_ACTIVITY_KIND_OVERHEAD",
             "CUPTI_KIND_MEMCPY2": "CUPTI_ACTIVITY_KIND_MEMCPY2",
             "CUPTI_NOT_INITIALIZED": "CUPTI_ERROR_NOT_INITIALIZED",
             "CUPTI_VIRTUALIZED": "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
             "CUPTI_NO_PRIVILEGES": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
             "CUPTI_OTHER_PROFILER_API": "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED",
             "CUPTI_OTHER_SUBSCRIBER": "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
             "CUPTI_VIRTUALIZED_NO_PRIVILEGES": "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
             "CUPTI_UNKNOWN": "CUPTI_ERROR_UNKNOWN",
             "CUPTI_THREAD_IDS_OF_SYSTEM": "CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM",
             "CUPTI_FLUSH_FORCED": "CUPTI_ACTIVITY_FLAG_FLUSH_FORCED",
             "CUPTI_DOMAIN_DRIVER": "CUPTI_CB_DOMAIN_DRIVER_API",
             "CUPTI_DOMAIN_RUNTIME": "CUPTI_CB_DOMAIN_RUNTIME_API"}
    lines = ["#include <cupti.h>"]
    for name, theirs in names.items():
        value = re.search(rf"\b{name} = (\d+)", ours)
        assert value, name
        lines.append(f'_Static_assert((int){theirs} == {value.group(1)}, "{name}");')
    source = tmp_path / "numbers.c"
    source.write_text("\n".join(lines) + "\n")
    done = subprocess.run(["gcc", "-std=gnu11", "-w", "-fsyntax-only",
                           *[f"-I{i}" for i in headers(major)], str(source)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
