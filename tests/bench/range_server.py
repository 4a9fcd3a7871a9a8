"""One file over HTTP by ranges, for scripts/bench remote and tests: sent by the kernel, so that what is measured is who asks.

    range_server.py FILE MS   says its port, and ends with its standard input; every name is FILE, and each answer takes MS
                              milliseconds. At the end it says how many bytes were asked for, and how many of them for the
                              third time or more, in pieces of 4 KiB."""
import os
import pathlib
import re
import socket
import sys
import threading
import time

PIECE = 4096


class Served:
    def __init__(self, path, seconds):
        self.path, self.size, self.seconds = path, path.stat().st_size, seconds
        self.lock, self.times, self.bytes = threading.Lock(), bytearray(self.size // PIECE + 1), 0

    def count(self, first, n):
        with self.lock:
            self.bytes += n
            for i in range(first // PIECE, (first + n - 1) // PIECE + 1):
                self.times[i] = min(self.times[i] + 1, 255)

    def head(self, status, *more):
        lines = [f'HTTP/1.1 {status}', 'ETag: "one"', 'Accept-Ranges: bytes', 'Content-Type: application/octet-stream', *more]
        return '\r\n'.join([*lines, '', '']).encode()

    def answer(self, connection, file, method, asked):
        time.sleep(self.seconds)
        if method == 'HEAD':
            return connection.sendall(self.head('200 OK', f'Content-Length: {self.size}'))
        if method != 'GET':
            return connection.sendall(b'HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n')
        first, last = (int(asked[1]), int(asked[2] or self.size - 1)) if asked else (0, self.size - 1)
        n = min(last, self.size - 1) + 1 - first
        self.count(first, n)
        connection.sendall(self.head('206 Partial Content', f'Content-Length: {n}', f'Content-Range: bytes {first}-{first + n - 1}/{self.size}')
                           if asked else self.head('200 OK', f'Content-Length: {n}'))
        while n:
            sent = os.sendfile(connection.fileno(), file.fileno(), first, n)
            first, n = first + sent, n - sent
        return None

    @staticmethod
    def line(lines):
        try:
            return lines.readline().decode()
        except OSError:
            return ''

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile('rb') as lines, open(self.path, 'rb') as file:
            while line := self.line(lines):
                asked = None
                while (header := self.line(lines)) not in ('\r\n', ''):
                    asked = asked or re.match(r'range: bytes=(\d+)-(\d*)', header, re.IGNORECASE)
                try:
                    self.answer(connection, file, line.split()[0], asked)
                except OSError:
                    return


def main():
    served = Served(pathlib.Path(sys.argv[1]), float(sys.argv[2]) / 1000)
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    print(server.getsockname()[1], flush=True)
    threading.Thread(target=lambda: [threading.Thread(target=served.serve, args=(server.accept()[0],), daemon=True).start()
                                     for _ in iter(int, 1)], daemon=True).start()
    sys.stdin.read()
    print(served.bytes, sum(min(PIECE, served.size - i * PIECE) * (n - 2) for i, n in enumerate(served.times) if n > 2))


main()
