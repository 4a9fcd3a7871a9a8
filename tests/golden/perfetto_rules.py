"""What the Perfetto importer refuses (docs/reference/perfetto.md#json-container and the sections
after it), checked strictly on raw bytes.

A reader of JSON that fails where the importer fails and nowhere else: it walks the text itself,
because Python's json accepts what is fatal there (NaN) and refuses what is fine (invalid UTF-8).
"""

import json
import re

WS = b" \t\n\r\v\f"
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.S)
NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+#-])")
LITERAL = re.compile(rb"(?:true|false|null)(?![0-9A-Za-z_.+#-])")
SPACE = re.compile(rb"[ \t\n\r\v\f]*")
MUST_BE_NUMBERS = (b'"dur"', b'"ts"', b'"pid"', b'"tid"', b'"tts"', b'"tdur"')


class Fatal(Exception):
    """The importer would refuse the whole file."""


def _has_surrogate(string):
    i = string.find(b"\\")
    while i >= 0:
        if string[i + 1 : i + 2] == b"u":
            if not re.match(rb"[0-9a-fA-F]{4}", string[i + 2 : i + 6]):
                return True
            if 0xD800 <= int(string[i + 2 : i + 6], 16) <= 0xDFFF:
                return True
        i = string.find(b"\\", i + 2)
    return False


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def fail(self, what):
        raise Fatal(f"{what} at byte {self.at}: {self.data[self.at - 40 : self.at + 40]!r}")

    def peek(self):
        self.at = SPACE.match(self.data, self.at).end()
        if self.at >= len(self.data):
            self.fail("the file ends")
        return self.data[self.at : self.at + 1]

    def take(self, c):
        if self.peek() != c:
            self.fail(f"no {c!r}")
        self.at += 1

    def token(self, pattern, what):
        m = pattern.match(self.data, self.at)
        if not m:
            self.fail(f"no {what}")
        self.at = m.end()
        return m.group()

    def string(self):
        s = self.token(STRING, "string")
        if b"\\u" in s and _has_surrogate(s):
            self.fail("an escaped surrogate, or a broken escape")
        return s

    def value(self):
        """Returns the first byte of the value."""
        stack, first = [], self.peek()
        while True:
            c = self.peek()
            if c in b"{[":
                self.at += 1
                stack.append(c)
                if self.peek() in b"}]":
                    self.close(stack)
                elif c == b"{":
                    self.key()
                    continue
                else:
                    continue
            elif c == b'"':
                self.string()
            elif c in b"-0123456789":
                self.token(NUMBER, "number")
            else:
                self.token(LITERAL, "value")
            while stack and self.peek() in b"}]":
                self.close(stack)
            if not stack:
                return first
            self.take(b",")
            if stack[-1] == b"{":
                self.key()

    def close(self, stack):
        self.take(b"}" if stack.pop() == b"{" else b"]")

    def key(self):
        self.peek()
        k = self.string()
        self.take(b":")
        return k

    def event(self):
        start = self.at
        self.take(b"{")
        if self.peek() == b"}":
            self.fail("an empty event")
        while True:
            k = self.key()
            first = self.value()
            if k in MUST_BE_NUMBERS and first not in b'-0123456789"':
                self.fail(f"{k!r} is neither number nor string")
            if self.peek() == b"}":
                break
            self.take(b",")
        self.at += 1
        return self.data[start : self.at]

    def events(self):
        found = []
        self.take(b"[")
        if self.peek() == b"]":
            self.at += 1
            return found
        while True:
            self.peek()
            found.append(self.event())
            if self.peek() == b"]":
                self.at += 1
                return found
            self.take(b",")


def check(data):
    """The raw events of a file that imports; raises Fatal otherwise."""
    head = bytes(b for b in data[:128] if b not in WS)
    if not head.startswith(b'{"'):
        raise Fatal(f"unknown trace type: {head[:20]!r}")
    r, events = _Reader(data), []
    r.take(b"{")
    while True:
        k = r.key()
        if k == b'"metadata"':
            r.fail("metadata")
        if k == b'"traceEvents"':
            r.peek()
            events += r.events()
        else:
            r.value()
        if r.peek() == b"}":
            break
        r.take(b",")
    r.at += 1
    if data[r.at :].strip():
        r.fail("bytes behind the end")
    return events


FATAL_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def check_large(data):
    """The same for files whose walk would take minutes: Python's own parser in C, made as strict."""
    if FATAL_ESCAPE.search(data.replace(b"\\\\", b"")):
        raise Fatal("an escaped surrogate")

    def refuse(token):
        raise Fatal(token)

    root = json.loads(data.decode("utf-8", "replace"), strict=False, parse_constant=refuse)
    if "metadata" in root or not isinstance(root["traceEvents"], list):
        raise Fatal("metadata, or no events")
    for event in root["traceEvents"]:
        if not event or any(event.get(k, 0) is None for k in ("ts", "dur", "pid", "tid")):
            raise Fatal(repr(event))


DEPTH = 512  # slices below one another (docs/reference/perfetto.md#stacking)


def check_tracks(events):
    """What would be no fault of a single event: slices that overlap on one track
    (docs/reference/perfetto.md#stacking), ids that Perfetto takes for others
    (docs/reference/perfetto.md#event-ids), events of threads that nobody named, flows that begin
    twice. ts and dur are exact."""
    tracks, named, opened, begun = {}, set(), {}, set()
    for e in events:
        pid, tid = e["pid"], e.get("tid")
        if e["ph"] == "M":
            named.add((pid, tid))
            continue
        assert 0 < pid < 1 << 32 and e["ts"] >= 0, e
        if e["ph"] == "C":
            assert (pid, None) in named and all(isinstance(v, int) for v in e["args"].values()), e
            continue
        assert 0 < tid < 1 << 32 and tid != pid and (pid, tid) in named, e
        if e.get("flow_out") and not e.get("flow_in"):
            assert e["bind_id"] not in begun, e
            begun.add(e["bind_id"])
        if e["ph"] == "X":
            tracks.setdefault((pid, tid), []).append((e["ts"], -e["dur"], e["name"]))
        elif e["ph"] == "b":
            assert opened.setdefault((pid, e["cat"], e["id2"]["local"]), e) is e
        else:
            begin = opened.pop((pid, e["cat"], e["id2"]["local"]))
            assert e["ph"] == "e" and e["ts"] >= begin["ts"] and e["name"] == begin["name"], e
    assert not opened
    for track, slices in tracks.items():
        check_nesting(track, slices)


def check_nesting(track, slices):
    """Of (start, -duration, name): by start, the longest first, each lies in the innermost that is still open."""
    stack = []
    for start, minus, name in sorted(slices):
        end = start - minus
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or end <= stack[-1], (track, name, start, end, stack[-1])
        stack.append(end)
        assert len(stack) <= DEPTH, (track, name)
