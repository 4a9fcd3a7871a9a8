"""Small files that ask for much (tests/gen/bombs.py) are read, or refused in a sentence, within bounds that hang on
their size: 300 MB for each MB of the file, or part of one, and a time that no other file of their size would take."""
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from gen import bombs  # noqa: E402
from used import run_used  # noqa: E402

pytestmark = pytest.mark.slow  # a quarter of the time of all CLI tests
MB = 1_000_000
# Sanitizers add a shadow of an eighth, red zones and a quarantine (here without): their peak is no measure of ours.
SANITIZED = "asan" in os.environ.get("VIEW_PROFILE", "asan")


def run(place, *argv):
    env = place.env | {"ASAN_OPTIONS": "quarantine_size_mb=1:detect_leaks=0"}
    with open(place.temp / "out", "wb") as out:
        return run_used(["view_profile", *argv], out, env=env)


def check_said(code, err):
    assert code in (0, 3), (code, err)
    lines = [line for line in err.splitlines() if line]
    assert all(line.startswith("view_profile: ") for line in lines) and (code == 0 or lines), err
    assert "out of memory" not in err


@pytest.mark.parametrize("name", list(bombs.ALL))
def test_memory_hangs_on_the_size_of_the_file(place, tmp_path, name):
    path = bombs.make(name, tmp_path)
    size = max(path.stat().st_size, MB)
    code, err, _, peak = run(place, "report", "--quiet", path)
    check_said(code, err)
    assert peak <= 300 * size * (3 if SANITIZED else 1), (name, peak / MB, size / MB, err)


@pytest.mark.parametrize("name", ["kinds", "smallest_events"])
def test_a_bound_of_the_users_is_kept_and_said(place, tmp_path, name):
    path = bombs.make(name, tmp_path)
    code, err, _, _ = run(place, "report", "--quiet", "--max-memory", "20M", path)
    assert code == 3
    assert re.search(r"^view_profile: .*" + path.name + r": .* memory .*--max-memory", err, re.M), err
    code, err, _, _ = run(place, "report", "--quiet", "--max-memory", "2G", path)
    assert (code, err) == (0, "")


def test_what_no_size_needs_is_refused_unless_it_is_allowed(place, tmp_path):
    """20 bytes an event for a byte of the file in 150: a gigabyte of events in six megabytes of gzip."""
    path = tmp_path / "many.json.gz"
    bombs.write(path, bombs.smallest_events(14_000_000))
    code, err, _, _ = run(place, "top", "--quiet", path)
    assert code == 3 and "--max-memory" in err and path.name in err, err
    code, err, _, _ = run(place, "top", "--quiet", "--max-memory", "3G", path)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("size", ["", "8", "15M", "8T", "-1G", "G", "1.5G", "99999999999G"])
def test_sizes_that_are_none(place, size):
    code, err, _, _ = run(place, "top", "--max-memory", size, ".")
    assert code == 2 and "--max-memory" in err


def cpu_of(place, path, tries=2):
    return min(run(place, "report", "--quiet", path).cpu_s for _ in range(tries))


def test_chosen_names_cost_what_others_cost(place, tmp_path):
    chosen = bombs.write(tmp_path / "chosen.json.gz", bombs.pieces(bombs.chosen_names(30_000)))
    others = bombs.write(tmp_path / "others.json.gz", bombs.pieces(bombs.chosen_names(30_000, chosen=False)))
    assert cpu_of(place, chosen) < 3 * cpu_of(place, others)


@pytest.mark.parametrize("make", [bombs.device_processes, bombs.kineto_devices, bombs.streams, bombs.tracks],
                         ids=lambda f: f.__name__)
def test_four_times_as_many_take_four_times_as_long(place, tmp_path, make):
    few = bombs.write(tmp_path / "few.json.gz", bombs.json_pieces(make(4_000)))
    many = bombs.write(tmp_path / "many.json.gz", bombs.json_pieces(make(16_000)))
    code, err, _, _ = run(place, "report", "--quiet", many)
    check_said(code, err)
    assert cpu_of(place, many) < 9 * cpu_of(place, few)


def test_devices_by_names_is_no_product(place, tmp_path):
    one = bombs.write(tmp_path / "one.json.gz", bombs.json_pieces(bombs.devices_and_names(1, 16_000)))
    many = bombs.write(tmp_path / "many.json.gz", bombs.json_pieces(bombs.devices_and_names(3_000, 16_000)))
    assert cpu_of(place, many) < 8 * cpu_of(place, one)


def test_output_does_not_hang_on_the_key_of_the_hashes(place, tmp_path):
    paths = [bombs.make(name, tmp_path) for name in ("streams", "collectives", "modules")]
    for path in paths:
        outs = set()
        for _ in range(2):
            assert run(place, "report", "--quiet", "--max-memory", "4G", "--top", 1000, "--format", "json", path).code == 0
            outs.add((place.temp / "out").read_bytes())
        assert len(outs) == 1, path.name


def test_a_report_that_is_read_counts(place, tmp_path):
    """The parser's memory is bounded as ours is: 30 MB of zeros are a gigabyte of values."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"schema":"view_profile.report/1","x":[' + "0," * 15_000_000 + "0]}")
    code, err, _, _ = run(place, "compare", "--max-memory", "300M", tmp_path / "a.json", tmp_path / "b.json")
    assert code == 3 and "--max-memory" in err and "a.json" in err, err
