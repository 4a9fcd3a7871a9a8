"""Over every real JSON file: what we serve is taken whole by a viewer that stacks slices.

By arithmetic: each complete event of the file is there once, start and end rounded to ns, and on no
thread does one begin inside another and end behind it. What Perfetto's own trace_processor says of
it is asked in test_pftrace_json.py, beside the other form."""

import collections
import decimal
import functools
import json
import subprocess
import tempfile

import pytest
from common import TRACES, tool
from json_files import JSON_FILES, content
from perfetto_rules import check

LARGE = 2 << 20  # bytes of JSON that Python is given
MODULUS_US = 10**12


@pytest.fixture(scope="module", params=JSON_FILES, ids=lambda p: str(p.relative_to(TRACES)))
def path(request):
    """Of this scope, so that all tests of a file come before the next file: it is exported once."""
    return request.param


@functools.lru_cache(maxsize=1)
def exported(path):
    """What we serve, None where the file is refused."""
    with tempfile.NamedTemporaryFile() as plain:
        plain.write(content(path))
        plain.flush()
        argv = [tool("export_tool"), "whole", plain.name]
        done = subprocess.run(argv, capture_output=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout if done.returncode == 0 else None


def events_of(data):
    """By Python's own decoder, times exact; None where it refuses the file."""
    try:
        made = json.loads(data.decode("utf-8-sig", "replace"), parse_float=decimal.Decimal, strict=False)
    except ValueError:
        return None
    events = made.get("traceEvents") if isinstance(made, dict) else made
    return [e for e in events if isinstance(e, dict) and e] if isinstance(events, list) else None


def number(value):
    try:
        made = decimal.Decimal(str(value))
        return made if made.is_finite() else None
    except decimal.InvalidOperation:
        return None


def ps(us):
    """Our unit of time: what is written with more digits is rounded to it, half to even."""
    return int((us * 10**6).to_integral_value(decimal.ROUND_HALF_EVEN))


def round_ns(of_ps):
    return (of_ps + 500) // 1000


def is_complete(event):
    return isinstance(event.get("ph"), str) and event["ph"][:1] == "X"


def spans(events):
    """(name, start, end) of the complete events whose times are numbers."""
    for e in events:
        start, length = number(e.get("ts")), number(e.get("dur", 0))
        if is_complete(e) and start is not None and length is not None and "dur" in e:
            yield e, round_ns(ps(start)), round_ns(ps(start) + max(ps(length), 0))


def same(value):
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)


def is_text(path):
    return content(path).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def test_each_complete_event_is_there_once(path):
    source, out = content(path), exported(path)
    if out is None or len(source) > LARGE:
        pytest.skip(f"SKIP: {'refused' if out is None else 'too large for Python'}: {path.name}")
    check(out)
    events = events_of(source)
    if events is None:
        pytest.skip(f"SKIP: Python's json refuses {path.name}")
    ours = events_of(out)
    want, got = list(spans(events)), list(spans(ours))
    if not want:
        return
    # complete events that became async ones: their begin and their end
    begins = {e["id"]: e for e in ours if e.get("ph") == "b" and e.get("cat") == "async" and "dur" in e}
    got += [(begins[e["id"]], *(round_ns(ps(number(half["ts"]))) for half in (begins[e["id"]], e)))
            for e in ours if e.get("ph") == "e" and e.get("id") in begins]
    step = MODULUS_US * 1000
    shift = round((want[0][1] - min(s for _, s, _ in got)) / step) * step

    def key(e, start, end):
        return (same(e.get("name")), same(e.get("args")), start, end)
    expected = collections.Counter(key(*w) for w in want)
    found = collections.Counter(key(e, s + shift, t + shift) for e, s, t in got)
    assert not expected - found, sorted((expected - found).items())[:3]
    # what is more were begins without ends, or had no duration
    more = found - expected
    begun = sum(e.get("ph") == "B" or (is_complete(e) and "dur" not in e) for e in events)
    assert sum(more.values()) <= begun
    assert all(s >= 0 for _, s, _ in got)


def test_no_slice_ends_behind_the_one_around_it(path):
    out = exported(path)
    if out is None or len(out) > LARGE:
        pytest.skip(f"SKIP: {'refused' if out is None else 'too large for Python'}: {path.name}")
    threads, numbers = collections.defaultdict(list), collections.defaultdict(set)
    for e, start, end in spans(events_of(out)):
        threads[e.get("pid", 0), e["tid"]].append((start, -end))
        numbers[e.get("pid", 0)].add(e["tid"])
    assert all(isinstance(t, int) and 0 < t < 2**32 for tids in numbers.values() for t in tids)
    for of in threads.values():
        open_ends = []
        for start, end in sorted(of):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or -end <= open_ends[-1]
            open_ends.append(-end)


def slices_of(events):
    """How many slices Perfetto makes of them."""
    return sum(str(e.get("ph"))[:1] in "XBiIRbn" and bool(e.get("ph")) for e in events)
