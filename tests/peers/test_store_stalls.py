"""Servers that stop speaking: nothing waits for ever, and what is said is one line. It takes a minute, in which nothing is done,
so that it stands with what runs beside other tests."""
import socket
import subprocess
import threading
import time

from conftest import find_program

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 9000000\r\nAccept-Ranges: bytes\r\nETag: \"1\"\r\n\r\n"


class Silent:
    """Answers heads, and what is read first with `some` bytes; then says no more to anybody."""

    def __init__(self, some=b""):
        self.some, self.asked = some, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(c,), daemon=True).start()

    def answer(self, c):
        while data := c.recv(1 << 16):
            method = data.split(b" ")[0].decode()
            self.asked.append(method)
            if self.some and method == "HEAD":
                c.sendall(HEAD)
            elif self.some and self.asked.count("GET") == 1:
                c.sendall(HEAD + self.some)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"


def test_a_silent_server_is_given_up(tmp_path):
    """A listing that never begins, and an object that ends in its middle: exit 3 within two silences and their pause."""
    listing, reading = Silent(), Silent(b"\n\xff")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    begun = time.monotonic()
    running = [subprocess.Popen([find_program(), "top", url], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for url in (f"{listing.url}/logs/", f"{reading.url}/a.xplane.pb")]
    for process, where in zip(running, (listing, reading)):
        out, err = process.communicate(timeout=300)
        took = time.monotonic() - begun
        assert process.returncode == 3 and out == "" and len(err.splitlines()) == 1, err
        assert err.startswith("view_profile: ") and where.url in err, err
        assert 25 < took < 150, took
    assert [m for m in listing.asked if m.isalpha()] == ["PROPFIND"] * 2  # no other way is tried
