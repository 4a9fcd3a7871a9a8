"""The .pftrace of every JSON file shows what the Perfetto-ready JSON of it shows, which test_perfetto_json.py holds to
the file itself: slices with their arguments, by thread; async slices, instants, counters and flows; what is missing.
Decoded by other means than ours; and, where there is one, by Perfetto's own trace_processor, which must find in both
the same (PF_UI: a Perfetto UI build)."""

import collections
import functools
import json
import struct
import subprocess

import pytest
from common import TRACES, least, tool
from json_files import JSON_FILES, content
from pftrace_decode import Trace
from real_perfetto import checked, needs_perfetto
from test_perfetto_json import LARGE, events_of, exported, is_text, number, ps, round_ns, slices_of


def made(path, folder):
    """None where the file is refused."""
    (folder / "in.json").write_bytes(content(path))
    done = subprocess.run([tool("export_tool"), "pftrace-json", folder / "in.json"], capture_output=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout if done.returncode == 0 else None


@functools.lru_cache(maxsize=None)
def files_of(path, folder):
    """(JSON, .pftrace), each written once for all tests; None where the file is refused."""
    out, ours = exported(path), made(path, folder)
    assert (out is None) == (ours is None)
    if out is None:
        return None
    file = folder / f"{JSON_FILES.index(path)}.json"
    file.write_bytes(out)
    file.with_suffix(".pftrace").write_bytes(ours)
    return file, file.with_suffix(".pftrace")


def both(path, folder):
    """(events of the JSON, members behind them, the .pftrace)."""
    files = files_of(path, folder)
    if files is None or files[0].stat().st_size > LARGE:
        pytest.skip(f"SKIP: {'refused' if files is None else 'too large for Python'}: {path.name}")
    out = files[0].read_bytes()
    missing = json.loads(out.decode("utf-8-sig", "replace"), strict=False).get("view_profile_missing")
    return events_of(out), missing or {"events": 0, "flows": 0}, Trace(files[1].read_bytes(), unfinished=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pftrace")


def phase(event):
    return str(event.get("ph"))[:1]


def at(event):
    return round_ns(ps(number(event["ts"])))


def name_of(event):
    name = event.get("name")
    return name if isinstance(name, str) and name else "[No name]" if name in (None, "") else json.dumps(name)


def shown(value):
    """An argument as a .pftrace has it, where what is no integer is a double."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True, default=float)
    if value is None:
        return "null"
    if isinstance(value, bool) or isinstance(value, str):
        return value
    if isinstance(value, int) and -2**63 < value < 2**64:
        return value
    return struct.unpack("<d", value)[0] if isinstance(value, bytes) else float(value)


def args_of(event):
    args = event.get("args")
    return {k: shown(v) for k, v in args.items()} if isinstance(args, dict) else {}


def plain(args):
    return {k: shown(v) for k, v in args.items() if k not in ("duration_ps", "start_rest_ps")}


def key(*what):
    return json.dumps(what, sort_keys=True)


def closed(events):
    """(event of the begin, start, end or None, arguments) of all slices, and events that close none."""
    stacks = collections.defaultdict(list)
    order = sorted((e for e in events if phase(e) in ("B", "E", "b", "e")),
                   key=lambda e: (at(e), phase(e) != "E"))
    for e in order:
        name = (name_of(e), e.get("cat"))
        local = e.get("id2", {}).get("local") if "id" not in e else None
        thread = phase(e) in "BE"
        stack = stacks[(e.get("pid", 0), e["tid"]) if thread else
                       (e.get("pid") if local is not None else None, e.get("cat"), repr(e.get("id", e.get("id2"))))]
        if phase(e) in "Bb":
            stack.append(e)
            continue
        fits = [i for i, b in enumerate(stack)
                if all(mine is None or theirs is None or mine == theirs
                       for mine, theirs in zip((b.get("name"), b.get("cat")), (e.get("name"), e.get("cat"))))
                or (not thread and (name_of(b), b.get("cat")) == name)]
        if fits:
            begin = stack.pop(fits[-1])
            yield begin, at(begin), at(e), args_of(begin) | args_of(e)
    for stack in stacks.values():
        for begin in stack:
            yield begin, at(begin), None, args_of(begin)
    for e in events:
        if phase(e) == "X":
            start = ps(number(e["ts"]))
            yield e, round_ns(start), round_ns(start + ps(number(e["dur"]))), args_of(e)


def pid_in_json(event):
    """Threads without a number are of process 0; what has an id for all processes is of none."""
    if phase(event) in ("b", "n", "e") and "id" not in event and "local" not in event["id2"]:
        return None
    return event.get("pid", 0 if phase(event) in "XBEiIR" else None)


def pid_of(trace, track):
    process = trace.process_of(track)
    return process.pid if process else None


def same_slices(events, trace):
    want = collections.Counter(key(pid_in_json(e), name_of(e), start, end, args) for e, start, end, args in closed(events))
    got = collections.Counter(key(pid_of(trace, s.track), s.name, s.start, s.end, plain(s.args)) for s in trace.slices)
    assert got == want, (list((got - want))[:2], list((want - got))[:2])


def same_threads(events, trace):
    """Sibling tracks are threads there, and tracks of their names here."""
    names = {(e.get("pid", 0), e.get("tid")): e["args"]["name"] for e in events
             if phase(e) == "M" and e.get("name") == "thread_name"}
    threads = {(t.pid, t.tid) for t in trace.tracks.values() if t.kind == "thread"}
    want = collections.Counter()
    for e, start, end, _ in closed(events):
        if phase(e) != "b":
            thread = e.get("pid", 0), e["tid"]
            want[key(thread if thread in threads else (thread[0], names[thread]), start, end)] += 1
    got = collections.Counter(
        key((s.track.pid, s.track.tid) if s.track.kind == "thread" else (pid_of(trace, s.track), s.track.name),
            s.start, s.end) for s in trace.slices)
    assert not want - got, list(want - got)[:3]
    for t in trace.tracks.values():
        if t.kind == "thread" and (t.pid, t.tid) in names:
            assert t.name == names[t.pid, t.tid]


def same_moments_and_counters(events, trace):
    want = collections.Counter(key(None if phase(e) != "n" and e.get("s") == "g" else pid_in_json(e), name_of(e), at(e))
                               for e in events if phase(e) in ("i", "I", "R", "n"))
    got = collections.Counter(key(pid_of(trace, i.track), i.name, i.start) for i in trace.instants)
    assert got == want
    values = collections.Counter()
    for e in events:
        for k, v in (e["args"] if phase(e) == "C" else {}).items():
            with_id = f" id: {e['id']}" if "id" in e else ""
            values[key(e.get("pid"), f"{e.get('name', '')}{with_id} {k}", at(e), shown(float(v)))] += 1
    assert collections.Counter(key(pid_of(trace, t), t.name, ns, shown(v)) for t, ns, v in trace.counters) == values


def flows_have_their_slices(events, trace, missing):
    ours = json.loads(trace.note("view_profile_missing") or '{"events": 0, "flows": 0}')
    points = sum(phase(e) in ("s", "t", "f") for e in events)
    assert len(trace.points) + ours["flows"] - missing["flows"] == points
    assert all(p.inside for p in trace.points if p.phase != "f" or p.enclosing)
    known = "XBEiIRstfCbneM"
    assert ours["events"] == missing["events"] >= sum(phase(e) not in known for e in events)


@pytest.mark.parametrize("path", JSON_FILES, ids=lambda p: str(p.relative_to(TRACES)))
def test_both_forms_show_the_same(path, folder):
    events, missing, trace = both(path, folder)
    same_slices(events, trace)
    same_threads(events, trace)
    same_moments_and_counters(events, trace)
    flows_have_their_slices(events, trace, missing)


@needs_perfetto
def test_trace_processor_takes_both_and_finds_the_same(folder):
    """Every JSON, and beside it the .pftrace where that is not too large for a test: no row of severity error, data_loss
    or notice; in the JSON as many slices as we wrote; in the .pftrace what is in the JSON."""
    written, pairs = {}, []
    for path in filter(is_text, JSON_FILES):
        files = files_of(path, folder)
        if files is None:
            continue
        file, size = files[0], files[0].stat().st_size
        written[file] = path, slices_of(events_of(file.read_bytes())) if size < LARGE else None
        if size <= 4 * LARGE:
            pairs.append(file)
    assert len(written) > least(150, 60) and len(pairs) > least(100, 50)
    files = [*written, *(f.with_suffix(".pftrace") for f in pairs)]
    rows = dict(zip(files, checked(files)))
    for file, row in rows.items():
        assert not row.get("fatal") and not row["bad"], (written[file.with_suffix(".json")][0], row)
    for file, (path, slices) in written.items():
        assert slices in (None, rows[file]["slices"]), (path, slices, rows[file]["slices"])
    for file in pairs:
        for what in ("slices", "unfinished", "dur_ns", "counters"):
            assert rows[file.with_suffix(".pftrace")][what] == rows[file][what], (written[file][0], what)
