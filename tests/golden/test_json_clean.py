"""Over every real JSON file: the cleaned file imports into Perfetto, and its events are the file's,
byte for byte, without the empty ones."""

import json

import pytest
from common import TRACES, least, run, tool
from json_files import JSON_FILES, content
from perfetto_rules import Fatal, check, check_large


def text_events(data):
    """The events of a file as their own text, by a decoder that is not ours; None if it cannot."""
    text = data.decode("utf-8-sig", "surrogateescape")
    decoder = json.JSONDecoder(strict=False)
    at = text.find('"traceEvents"')
    at = text.find("[", at) if at >= 0 else len(text) - len(text.lstrip())
    if at < 0 or text[at : at + 1] != "[":
        return None
    events, at = [], at + 1
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] == "]":
            return events
        if text[at] != "{":
            return None
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            return events  # cut off here
        if value:
            events.append(text[at:end].encode("utf-8", "surrogateescape"))
        at = end


LARGE = 1 << 20  # bytes; walking more of them one by one takes minutes


def test_there_are_files():
    assert len(JSON_FILES) > least(150, 60)


@pytest.mark.parametrize("path", JSON_FILES, ids=lambda p: str(p.relative_to(TRACES)))
def test_every_event_is_kept(path):
    data = content(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        pytest.skip(f"SKIP: no JSON inside {path.name}: {data[:16]!r}")
    out, counts = run(tool("export_tool"), "clean", "-", stdin=data)
    counts = json.loads(counts)
    want = text_events(data)
    changes = counts["strings"] + counts["numbers"] + counts["commas"]
    if len(data) > LARGE and want is not None and not changes and not counts["refused"]:
        check_large(out)
        assert counts["events"] == len(want)
        assert b'"traceEvents":[' + b",\n".join(want) + b"]" in out
        return
    got = check(out)
    assert counts["events"] == len(got)
    if want is None:
        return
    if changes + counts["refused"] == 0:
        assert got == want, f"{len(got)} events for {len(want)}"
    else:  # what was repaired differs, nothing else may
        unchanged = set(want)
        repaired = sum(event not in unchanged for event in got)
        assert len(got) == len(want) - counts["refused"]
        assert repaired <= changes


@pytest.mark.parametrize(
    "bad",
    [
        b"[]",
        b"{}",
        b'\xef\xbb\xbf{"traceEvents":[]}',
        b'{"traceEvents":[{"a":1}',
        b'{"traceEvents":[{"a":1},]}',
        b'{"traceEvents":[{}]}',
        b'{"traceEvents":[{"dur":null}]}',
        b'{"traceEvents":[{"n":"\\ud83d\\ude80"}]}',
        b'{"traceEvents":[{"a":01}]}',
        b'{"traceEvents":[{"a":.5}]}',
        b'{"traceEvents":[{"a":[NaN]}]}',
        b'{"metadata":{},"traceEvents":[]}',
    ],
)
def test_the_rules_refuse(bad):
    with pytest.raises(Fatal):
        check(bad)


@pytest.mark.parametrize(
    "bad",
    [
        b'{"traceEvents":[{}]}',
        b'{"traceEvents":[{"dur":null}]}',
        b'{"traceEvents":[{"n":"\\\\\\ud83d"}]}',
        b'{"traceEvents":[{"a":[NaN]}]}',
        b'{"metadata":{},"traceEvents":[]}',
    ],
)
def test_the_rules_for_large_files_refuse(bad):
    with pytest.raises(Fatal):
        check_large(bad)
