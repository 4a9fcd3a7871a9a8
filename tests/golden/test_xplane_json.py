"""Runs that have both halves: the JSON that we make from the xplane is the one that jaxlib wrote,
event by event, as a multiset; nothing is missing and nothing is extra (xprof.md 3.1)."""

import collections
import csv
import functools
import gzip
import json
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from common import TRACES, run, tool, trace
from perfetto_rules import check, check_large

NS = Decimal("0.001")
LARGE = 1 << 20  # bytes; walking more of them one by one takes minutes
HIDDEN_ONCE = {"kernel_details"}
CAP = 1_000_000  # jaxlib keeps the first million


def pairs():
    """(xplane, json) of every run that has both; XProf's own remote.trace.json.gz is another
    converter's work and is compared by tables below."""
    found = []
    for xplane in sorted(TRACES.rglob("*.xplane.pb")):
        other = xplane.with_name(xplane.name.replace(".xplane.pb", ".trace.json.gz"))
        if other.exists():
            found.append((xplane, other))
    return found


PAIRS = pairs()
XPLANES = sorted(TRACES.rglob("*.xplane.pb"))


def relative(path):
    return str(path.relative_to(TRACES))


@functools.lru_cache(maxsize=None)
def ours(xplane):
    out, err = run(tool("export_tool"), "xspace", xplane)
    return out, json.loads(err)["damage"]


@functools.lru_cache(maxsize=4)
def parsed(text):
    return json.loads(text, parse_float=Decimal)["traceEvents"]


@functools.lru_cache(maxsize=1 << 20)
def to_ns(value):
    return Decimal(value).quantize(NS, ROUND_HALF_EVEN)


def key(event, without=()):
    """Everything that an event says; jaxlib cuts names at a NUL (jax_cpu.md 15)."""
    args = tuple(sorted((k, str(v)) for k, v in event.get("args", {}).items() if k not in without))
    name = event["name"].split("\0")[0]
    if event["ph"] == "M":
        return ("M", event["pid"], event.get("tid"), name, args)
    # jaxlib's durations and starts are doubles of decimals with 6 places: equal to the ns
    return ("X", event["pid"], event["tid"], to_ns(event["ts"]), to_ns(event["dur"]), name, args)


def test_there_are_pairs():
    assert len(PAIRS) >= 13


@pytest.mark.parametrize(("xplane", "stored"), PAIRS, ids=lambda p: relative(p))
def test_same_events(xplane, stored):
    text, damage = ours(xplane)
    assert damage == 0
    want = [e for e in parsed(gzip.decompress(stored.read_bytes())) if e]
    got = parsed(text)
    assert sum(e["ph"] == "X" for e in want) < CAP
    # jaxlib of early 2025 left kernel_details out, later ones and we do not
    hidden = HIDDEN_ONCE - {k for e in want for k in e.get("args", {})}
    a = collections.Counter(key(e, hidden) for e in got)
    b = collections.Counter(map(key, want))
    extra, missing = a - b, b - a
    assert not missing, f"missing {sum(missing.values())}: {list(missing)[:3]}"
    assert not extra, f"extra {sum(extra.values())}: {list(extra)[:3]}"


@pytest.mark.parametrize(("xplane", "stored"), PAIRS, ids=lambda p: relative(p))
def test_same_metadata_events_in_the_same_order(xplane, stored):
    def rows(events):
        return [e for e in events if e and e["ph"] == "M"]

    got = parsed(ours(xplane)[0])
    assert rows(got) == rows(parsed(gzip.decompress(stored.read_bytes())))
    assert all(e["ph"] == "M" for e in got[: len(rows(got))])


def compare_rows():
    table = TRACES / "expected" / "jax_cpu" / "compare_xplane_json.tsv"
    if not table.exists():
        return []
    with table.open() as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    return [r for r in rows if (TRACES / "jax_cpu" / r["path"]).exists()]


@pytest.mark.parametrize("row", compare_rows(), ids=lambda r: r["path"])
def test_counts_of_the_independent_comparison(row):
    """x_events is what an independent decoder found in the xplane: all of them are written."""
    events = [e for e in parsed(ours(trace(f"jax_cpu/{row['path']}"))[0]) if e["ph"] == "X"]
    assert len(events) == int(row["x_events"])
    zero = sum(e["dur"] == Decimal("0.000001") for e in events)
    assert zero == int(row["x_zero_dur"])
    if events:
        last = max(e["ts"] + e["dur"] for e in events) / 1000
        assert abs(last - Decimal(row["x_last_ms"])) <= Decimal("0.001")


@pytest.mark.parametrize("xplane", XPLANES, ids=relative)
def test_every_xplane_imports(xplane):
    """Also the files of which no JSON is stored."""
    text, damage = ours(xplane)
    assert damage == 0
    (check_large if len(text) > LARGE else check)(text)
    threads = {}
    for e in json.loads(text)["traceEvents"]:
        if e["name"] == "thread_name":
            threads[e["pid"], e["tid"]] = e["args"]["name"]
        elif e["ph"] == "X":
            assert (e["pid"], e["tid"]) in threads or e["pid"] == 0
    # tid 0 means the pid to Perfetto: never both in one process
    assert not [k for k in threads if k[1] == 0 and (k[0], k[0]) in threads]
