"""scripts/bench and scripts/bench_readme on figures made up here, and the pages that show the figures."""
import importlib.machinery
import importlib.util
import json
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


@pytest.fixture
def readme():
    """scripts/bench_readme as a module."""
    loader = importlib.machinery.SourceFileLoader("bench_readme", str(ROOT / "scripts" / "bench_readme"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_readme", loader))
    loader.exec_module(module)
    return module


def test_both_pages_show_the_figures(readme):
    measured = json.loads(readme.MEASURED.read_text())
    for page in readme.PAGES:
        text = page.read_text()
        assert text == readme.with_figures(page, text, measured), "run scripts/bench_readme"
    assert len([line for line in readme.TABLE.read_text().split(readme.HEAD)[1].split(readme.MARKS[1])[0].splitlines()]) > 30
    assert "docs/benchmarks.md" in readme.FRONT.read_text()
    assert subprocess.run([sys.executable, ROOT / "scripts" / "bench_readme", "--check"]).returncode == 0


def test_a_figure_that_moves_moves_alone(readme):
    measured = json.loads(readme.MEASURED.read_text())
    measured[readme.XPLANE_130]["view_profile top"]["wall_s"] = 123.4
    for page, wanted in ((readme.TABLE, "| 123 s, 22 MiB |"), (readme.FRONT, " take 123 s")):
        text = page.read_text()
        was, now = text.splitlines(), readme.with_figures(page, text, measured).splitlines()
        (moved,) = [(a, b) for a, b in zip(was, now, strict=True) if a != b]
        assert wanted in moved[1]


def test_rows_without_figures_are_left_out(readme):
    """Other rows of the same section stay."""
    measured = json.loads(readme.MEASURED.read_text())
    before = readme.table(measured).splitlines()
    del measured["timeline tpu_x160.xplane.pb"], measured["report: json, 1.05 M events"]
    after = readme.table(measured).splitlines()
    gone = [row for row in before if row not in after]
    assert len(gone) == 2 and "| full report of the same file | 0.24 s" in gone[0] and "tracks of the analysis" in gone[1]
    assert {"timeline tpu_x160.xplane.pb", "report: json, 1.05 M events"} <= set(readme.left_out(measured))
    assert readme.table({"machine": "this one"}) == "`scripts/bench` on this one:\n\n" + readme.HEAD


def command(wall, mib, ratio, pairs=3):
    return {"wall_s": wall, "cpu_s": wall, "rss_mib": mib, "faults": 1, "pairs": pairs,
            "ours_by_this": {what: [ratio, 0, 0, 0] for what in ("wall", "cpu", "rss")}}


def test_rows_of_what_bench_measures(readme):
    of = {"wall": 1.5, "cpu": 1.25, "rss": 2, "bytes_an_event": 30.6}
    measured = {"machine": "this one", "versions": {"xprof-rs": "0.1.3"},
                "start": {"view_profile --version": command(0.00123, 2.9, 1, 150), "/bin/true": command(0.0006, 1, 2.05, 150)},
                readme.XPLANE_141: {"view_profile top": command(0.1472, 27.7, 1), "xprof-rs aggregate": command(0.8791, 304.7, 0.168),
                                    "view_profile report": command(1.2, 1160.8, 0.116)},
                "report: tpu_host_140mb.xplane.pb": of,
                "top N of tpu_1gb.xplane.pb on 1, 2, 4 cores": {"1 core": command(2, 1, 1), "4 cores": command(0.8, 1, 2.5)},
                "cores: top N of tpu_1gb.xplane.pb": {"2": {"times": 1.6, "serial": 0.25}, "4": {"times": 2.5, "serial": 0.2}}}
    lead, rows = readme.table(measured).split(readme.HEAD)
    assert lead == "`scripts/bench` on this one, commands in turn, medians of 3 to 150:\n\n"
    assert rows.splitlines() == [
        "| start: `--version` | 1.23 ms, 3 MiB | `/bin/true` 0.6 ms, 1 MiB | 2.05 / 2.05 / 2.05 |",
        "| top 20 of 141 MB, 6.6 M events (TPU, half of it the Python tracer) | 0.15 s, 28 MiB | xprof-rs 0.1.3 0.88 s, 305 MiB | "
        "0.17 / 0.17 / 0.17 |",
        "| full report of the same file | 1.2 s, 1,161 MiB (31 bytes an event) | our own top 20, which skips host events | "
        "1.5 / 1.25 / 2.0 |",
        "| top 20 of the 1,066 MB on all processors | 0.8 s | one processor 2.0 s | "
        "2.5 times as fast; 20% does not scale |"]


@pytest.mark.parametrize("value,text", [(1, "1.0"), (1.5, "1.5"), (0.128, "0.13"), (0.0131, "0.013"), (0.5, "0.5"), (12, "12"),
                                        (10.24, "10.2"), (287.4, "287"), (2358, "2,358"), (0.1, "0.1"), (0.09, "0.09"), (0, "0.0")])
def test_numbers(readme, value, text):
    assert readme.number(value) == text


def test_figures_of_two_machines_are_not_mixed(readme):
    stored = {"machine": "this one", "start": 1, "list": 2, "versions": {"a": "1", "b": "2"}}
    assert readme.taken_over(stored, {"machine": "this one", "start": 3, "versions": {"a": "3"}}) == \
        {"machine": "this one", "start": 3, "list": 2, "versions": {"a": "3", "b": "2"}}
    assert readme.taken_over({}, {"machine": "that one"})["machine"] == "that one"
    with pytest.raises(SystemExit, match="on another machine"):
        readme.taken_over(stored, {"machine": "that one", "start": 3})
