"""A ProfilerService that sends N MB as fast as it can: HTTP/2 by hand, since h2 would be slower than what is measured.

    profile_stream.py MEGABYTES   prints its port and serves until its standard input ends
"""
import socket
import struct
import sys
import threading

PAYLOAD = 16384
BATCH = 64  # DATA frames written at once


def varint(v):
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7F | 0x80])
        v >>= 7
    return out + bytes([v])


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header that needs no table of HPACK's."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


# An XSpace of planes that fill a DATA frame each: field 1, in it one line.
PLANE = b"\x0a" + varint(PAYLOAD - 3) + b"\x1a" + varint(PAYLOAD - 6) + b"x" * (PAYLOAD - 6)
HEADERS = b"\x88" + literal(b"content-type", b"application/grpc")  # :status 200
TRAILERS = literal(b"grpc-status", b"0")


class Client:
    def __init__(self, sock, planes):
        self.sock, self.planes = sock, planes
        self.windows, self.initial, self.changed = {0: 65535}, 65535, threading.Condition()
        self.gone = False

    def take(self, n):
        out = bytearray()
        while len(out) < n:
            got = self.sock.recv(n - len(out))
            if not got:
                raise EOFError
            out += got
        return bytes(out)

    def hear(self):
        try:
            self.take(24)
            self.sock.sendall(frame(4, 0, 0, b""))
            while True:
                head = self.take(9)
                body = self.take(int.from_bytes(head[:3], "big"))
                self.one(head[3], head[4], int.from_bytes(head[5:], "big"), body)
        except (OSError, EOFError):
            with self.changed:
                self.gone = True
                self.changed.notify_all()

    def one(self, kind, flags, stream, body):
        with self.changed:
            if kind == 8:
                self.windows[stream] = self.windows.get(stream, self.initial) + int.from_bytes(body, "big")
            elif kind == 4 and not flags & 1:
                for at in range(0, len(body), 6):
                    key, value = struct.unpack(">HI", body[at:at + 6])
                    if key == 4:
                        self.initial = value
                self.sock.sendall(frame(4, 1, 0, b""))
            self.changed.notify_all()
        if kind in (0, 1) and flags & 1:
            threading.Thread(target=self.answer, args=(stream,), daemon=True).start()

    def room(self, stream):
        with self.changed:
            while not self.gone:
                n = min(self.windows[0], self.windows.setdefault(stream, self.initial)) // PAYLOAD
                if n:
                    n = min(n, BATCH)
                    self.windows[0] -= n * PAYLOAD
                    self.windows[stream] -= n * PAYLOAD
                    return n
                self.changed.wait()
        raise EOFError

    def answer(self, stream):
        size = self.planes * PAYLOAD
        head = b"\x42" + varint(size)
        start = b"\0" + struct.pack(">I", len(head) + size) + head
        data = frame(0, 0, stream, PLANE)
        batch = data * BATCH
        try:
            self.sock.sendall(frame(1, 4, stream, HEADERS) + frame(0, 0, stream, start))
            left = self.planes
            with self.changed:
                self.windows[0] -= len(start)
                self.windows[stream] = self.windows.get(stream, self.initial) - len(start)
            while left:
                n = self.room(stream)
                if n > left:
                    with self.changed:
                        self.windows[0] += (n - left) * PAYLOAD
                        self.windows[stream] += (n - left) * PAYLOAD
                    n = left
                self.sock.sendall(batch[:n * len(data)])
                left -= n
            self.sock.sendall(frame(1, 5, stream, TRAILERS))
        except (OSError, EOFError):
            pass


def main():
    planes = int(sys.argv[1]) * 1000000 // PAYLOAD
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=Client(sock, planes).hear, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
