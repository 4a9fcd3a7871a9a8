"""scripts/bench: what it makes of what it measured, on figures made up here."""
import os
import subprocess
import sys

import pytest
from traces import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import bench_compare  # noqa: E402
import bench_cores  # noqa: E402


@pytest.mark.parametrize("by,cores,share", [(1, 4, 1), (0.25, 4, 0), (0.5, 2, 0), (0.625, 4, 0.5), (0.75, 2, 0.5)])
def test_what_does_not_scale(by, cores, share):
    """s + (1 - s) / n of the time on one."""
    assert bench_cores.serial_share(by, cores) == pytest.approx(share)
    assert share + (1 - share) / cores == pytest.approx(by)


def test_functions_that_run_alone():
    """A bucket in which a helper was seen counts for nobody; the main thread idles in one of them."""
    step = bench_cores.BUCKET_S
    samples = [(1, 0.1 * step, "read"), (1, 0.6 * step, "sort"), (1, 1.1 * step, "sort"), (2, 1.2 * step, "inflate"),
               (2, 2.5 * step, "inflate"), (1, 3.5 * step, "sort"), (1, 3.6 * step, "sort")]
    functions, buckets, of = bench_cores.alone(samples, 1)
    assert (functions, buckets, of) == ({"read": 1, "sort": 3}, 2, 4)


def test_ratios_are_of_pairs():
    """The machine was half as fast in the second of three rounds: pairs do not see it."""
    ours, theirs = [(1, 2, 10), (2, 4, 10), (1, 2, 10)], [(4, 4, 40), (8, 8, 40), (4, 4, 20)]
    of = bench_compare.ratios(ours, theirs)
    assert of == {"wall": (0.25, 0.25, 0.25, 0.25), "cpu": (0.5, 0.5, 0.5, 0.5), "rss": (0.25, 0.25, 0.375, 0.5)}


@pytest.mark.parametrize("said,counts", [
    ("123,,instructions:u,5,100.00,,\n45,,cache-misses:u,5,100.00,,\n", {"instructions": 123, "cache_misses": 45}),
    ("# started\n\n<not supported>,,instructions:u,0,100.00,,\n45,,cache-misses:u,5,100.00,,\n", {"cache_misses": 45}),
    ("<not supported>,,instructions:u,0,100.00,,\n<not counted>,,cache-misses:u,0,100.00,,\n", {}),
    ("", {}),
])
def test_what_a_processor_does_not_count_is_left_out(tmp_path, monkeypatch, said, counts):
    (tmp_path / "said").write_text(said)
    (tmp_path / "perf").write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n'
                                   'cat "$(dirname "$0")/said" >"$2"\n')
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert bench_compare.counted(["true"]) == counts


def measured(tmp_path, *argv):
    """tests/bench/measured.c, built here: of the build that is tested a sanitizer would be in its figures."""
    program = tmp_path / "measured"
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-o", program, ROOT / "tests/bench/measured.c"], check=True)
    done = subprocess.run([program, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_measured_says_what_the_child_took_and_not_we(tmp_path):
    """This Python's own memory is none of a child's."""
    ours = bytearray(os.urandom(1)) * (64 << 20)
    wall, cpu, kib, faults, status = measured(tmp_path, "sh", "-c", "echo said; echo too >&2; sleep 0.2; exit 3")
    assert ours and float(wall) >= 0.2 > float(cpu) and int(kib) < 16384 and int(faults) > 0 and int(status) == 3 << 8
    assert measured(tmp_path, tmp_path / "nothing")[-1] == str(127 << 8)
