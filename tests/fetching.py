"""view_profile-fetch as a child, asked over its control socket (trace/source/fetch_wire.h) as view_profile asks it."""
import os
import socket
import struct
import subprocess

LIST, HEAD, READ, WRITE, STORES, CAPTURE, LOOK, KINETO, REMOVE = range(1, 10)
DATA, ENTRIES, INFO, PROGRESS, END, DONE, FAILED = range(1, 8)
WHAT, URL, ETAG, OFFSET, LENGTH, FLAT, UNSIGNED, BODY = range(1, 9)


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A protobuf field: numbers as varints, bytes and text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """[(number, value)] of a message of varints and length-delimited fields."""
    at, out = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = number()
        size = number()
        if tag & 7 == 2:
            out.append((tag >> 3, message[at:at + size]))
            at += size
        else:
            out.append((tag >> 3, size))
    return out


def question(what, **values):
    """QUESTION bytes: question(READ, url="s3://b/k", offset=5)."""
    names = {"url": URL, "etag": ETAG, "offset": OFFSET, "length": LENGTH, "flat": FLAT, "unsigned": UNSIGNED, "body": BODY}
    return field(WHAT, what) + b"".join(field(names[k], int(v) if isinstance(v, bool) else v) for k, v in values.items())


class Fetcher:
    """A context: fetcher.ask(question) is the stream socket of the answer."""

    def __init__(self, program, env=None):
        self.control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            # Descriptor 3 over there: a shell moves it, since Popen cannot.
            self.child = subprocess.Popen(["bash", "-c", f'exec "$0" 3<&{its.fileno()}', str(program)], env=env,
                                          pass_fds=[its.fileno()], stderr=subprocess.PIPE)

    def ask(self, text, *files):
        mine, its = socket.socketpair()
        with its:
            socket.send_fds(self.control, [text], [its.fileno(), *files])
        return mine

    def answer(self, text, *files):
        """All frames of an answer: [(kind, payload)]."""
        with self.ask(text, *files) as stream:
            return list(frames(stream))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.control.close()
        try:
            self.child.wait(20)
        finally:
            self.child.kill()
            self.child.stderr.close()


def exactly(stream, n):
    out = b""
    while len(out) < n:
        got = stream.recv(n - len(out))
        if not got:
            raise EOFError
        out += got
    return out


def frames(stream):
    """(kind, payload) to the last one, DONE or FAILED."""
    kind = None
    while kind not in (DONE, FAILED):
        kind, n = struct.unpack("=II", exactly(stream, 8))
        yield kind, exactly(stream, n)


def failure(frame):
    """(code, message, status or None) of a FAILED frame."""
    kind, payload = frame
    assert kind == FAILED, frame
    said = dict(fields(payload))
    return -said[1], said[2].decode(), said.get(3)


def program():
    """Beside the program that is tested."""
    return os.path.join(os.path.dirname(os.path.realpath(os.environ["VIEW_PROFILE"])), "view_profile-fetch")
