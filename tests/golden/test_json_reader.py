"""Every real JSON file through the JSON reader alone: each event of the file arrives, once, with its
exact duration, host events included, as an ordinary JSON decoder sees them; what is wrong is said."""

import collections
import functools
import gzip
import json
import zlib
from decimal import Decimal

import pytest
from common import TRACES, least, run, tool, trace

PAIRED = set("BEbeSFnTp")  # spans told in two events, and what lies on their tracks
KINETO = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}


def candidates():
    return sorted(
        p
        for p in TRACES.rglob("*")
        if p.is_file()
        and p.relative_to(TRACES).parts[0] not in ("expected", "archives", "archives_made")
        and p.name.endswith((".json", ".json.gz"))
    )


def decoded(path):
    """The events of a well-formed file, numbers as text; None if Python cannot read it."""
    data = path.read_bytes()
    try:
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        text = data.decode("utf-8", "replace").lstrip("\ufeff")
        whole = json.loads(text, strict=False, parse_float=str, parse_int=str)
    except (ValueError, EOFError, zlib.error):
        return None
    events = whole if isinstance(whole, list) else whole.get("traceEvents", [])
    return [e for e in events if isinstance(e, dict) and "ph" in e]


@functools.lru_cache(maxsize=1 << 20)  # durations repeat
def ps(text):
    return int((Decimal(text) * 1000000).to_integral_value())


@functools.lru_cache(maxsize=None)
def lines(path):
    out, _ = run(tool("json_tool"), path)
    return [line.split("\t") for line in out.decode("utf-8", "replace").splitlines()]


def processes(path):
    """name → (events, ps, op events, op ps), summed over processes of one name"""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for kind, _, name, *figures in lines(path):
        if kind == "process":
            found[name] = [a + int(b) for a, b in zip(found[name], figures)]
    return found


def on_device_clock(event, names):
    args = event.get("args") or {}
    return names.get(event.get("pid"), "").startswith("/device:") and "device_offset_ps" in args


def told(events):
    """(count, ps) of all events that are told whole"""
    names = {
        e.get("pid"): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and e.get("name") == "process_name"
    }
    count = total = 0
    for e in events:
        if e["ph"][:1] in "iIR":
            count += 1
        elif e["ph"][:1] == "X":
            count += 1
            own = on_device_clock(e, names)
            total += int(e["args"]["device_duration_ps"]) if own else ps(e.get("dur", "0"))
    return count, total


def device_work(events):
    """device → [events, ps] of Kineto's device categories and of XLA's ops on CPU"""
    found = collections.defaultdict(lambda: [0, 0])
    for e in events:
        args = e.get("args") or {}
        category = str(e.get("cat", "")).lower()
        if e["ph"] != "X":
            continue
        if category in KINETO:
            maker = "MTIA" if category.startswith("mtia") else "GPU"
            name = f"{maker} {args.get('device', e.get('pid'))}"
        elif not category and "hlo_op" in args and "device_ordinal" in args:
            name = f"/host:CPU:{args['device_ordinal']}"
        else:
            continue
        found[name] = [found[name][0] + 1, found[name][1] + ps(e.get("dur", "0"))]
    return dict(found)


@pytest.mark.parametrize("path", candidates(), ids=lambda p: str(p.relative_to(TRACES)))
def test_every_event_arrives_once_and_device_work_on_its_device(path):
    events = decoded(path)
    if not events:
        pytest.skip("not intact, or no timeline")
    ours = processes(path)
    if not any(str(e["ph"])[:1] in PAIRED for e in events):
        # XLA's CPU ops are shown twice: on their device and among the host's events.
        shown = [v for name, v in ours.items() if not name.startswith("/host:CPU:")]
        assert (sum(v[0] for v in shown), sum(v[1] for v in shown)) == told(events)
    devices = {k: v[2:] for k, v in ours.items() if v[2] and not k.startswith("/device:")}
    assert devices == device_work(events)


def test_credentials_are_noticed_in_the_files_that_carry_them():
    """The seven of the traces' README; no other file makes a noise."""
    found = collections.defaultdict(set)
    for path in candidates():
        for kind, _, *rest in lines(path):
            if kind == "quality" and rest[0] == "credentials":
                found[path].add(rest[1])
    assert len(found) == least(7, 0)
    for messages in found.values():
        assert any('"HF_TOKEN"' in m for m in messages)
        assert not any("xxxx" in m for m in messages)


@pytest.mark.parametrize(
    "name",
    [
        "pytorch_et/facebookresearch__param/linear_et.json.gz",
        "chrome_odd/jlfwong__speedscope/speedscope/invalid/incomplete-trace.json",
        "memory_timeline/pytorch__ao/test/galore/profiler_out/adamw8bit_04-11-01-memory-timeline.json",
        "lfs_pointer/pytorch__benchmark/traces/maml/train-cuda.pt.trace.json.gz",
    ],
)
def test_what_is_no_timeline_is_refused(name):
    (row,) = lines(trace(name))
    assert row[0] == "refused"
