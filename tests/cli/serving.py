"""What the tests of `view_profile serve` share: small profile directories of our own making, and
raw requests, so that nothing between the test and the wire mends anything."""
import json
import os
import re
import socket
import subprocess
import time

from test_serve import WAIT, first_line

TRACE = {"traceEvents": [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:TPU:0"}},
    {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}},
    {"ph": "X", "pid": 1, "tid": 2, "ts": 0, "dur": 7, "name": "fusion.1"}]}


def make_runs(root, count, first=0):
    """`count` runs of one small trace; hard links, so that a thousand are made at once."""
    root.mkdir(parents=True, exist_ok=True)
    base = root / ".trace"
    if not base.exists():
        base.write_text(json.dumps(TRACE))
    for i in range(first, first + count):
        run = root / "plugins" / "profile" / f"2026_01_{1 + i // 1000:02}_{i // 60 % 24:02}_{i % 60:02}_{i % 7:02}_{i}"
        run.mkdir(parents=True)
        os.link(base, run / "host.trace.json")
    return root


class Serving:
    """A running `view_profile serve`; `url` is its first line of output."""

    def __init__(self, place, *args, env=None, shell=None, program="view_profile", **more):
        argv = [program, "serve", "--no-browser", *map(str, args)]
        if shell:
            argv = ["sh", "-c", f"{shell}; exec \"$@\"", "sh", *argv]
        self.process = subprocess.Popen(argv, cwd=place.dir, env={**place.env, **(env or {})},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0, **more)
        self.url = first_line(self.process.stdout).strip()
        found = re.search(r":(\d+)/", self.url)
        self.port = int(found.group(1)) if found else None

    def __enter__(self):
        assert self.url, self.process.stderr.read().decode()
        while self.url != "unix:(inherited)" and self.get("/readyz")[0] == 503:
            time.sleep(0.02)  # the address is told before a slow index is there
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self):
        if self.port is None:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(WAIT)
            s.connect(self.url.removeprefix("unix:"))
            return s
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def raw(self, data):
        out = bytearray()
        with self.connect() as s:
            s.sendall(data)
            while chunk := s.recv(1 << 16):
                out += chunk
        return bytes(out)

    def request(self, method, target, *fields, host=None, body=b""):
        host = host or (f"127.0.0.1:{self.port}" if self.port else "localhost")
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *fields, "Connection: close", "", ""]
        head, _, body = self.raw("\r\n".join(lines).encode("latin-1") + body).partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in rest)}
        return int(first.split()[1]), headers, body.decode("utf-8", "replace")

    def get(self, target, *fields, **more):
        return self.request("GET", target, *fields, **more)

    def post(self, target, *fields):
        return self.request("POST", target, "Content-Type: application/json", "Content-Length: 2",
                            *fields, body=b"{}")

    def end(self, which):
        self.process.send_signal(which)
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out.decode(), err.decode()


def logged(text):
    """The lines of an access log, without those of waiting for the index."""
    return [line for line in text.splitlines() if "/readyz" not in line]


def refused(place, *args, **more):
    """Runs what must not serve; its exit code and what it says."""
    done = subprocess.run(["view_profile", "serve", "--no-browser", *map(str, args)], cwd=place.dir,
                          env=place.env, capture_output=True, text=True, timeout=WAIT, **more)
    assert done.stdout == ""
    assert re.fullmatch(r"view_profile: .*\n", done.stderr), done.stderr
    return done.returncode, done.stderr
