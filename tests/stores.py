"""Stores for tests, and what view_profile-fetch says of them."""
import contextlib
import http.server
import os
import struct
import sys
import threading
import urllib.parse

import fetching

NAME, BYTES, MTIME, ETAG, IS_DIR, WHY = range(1, 7)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A client that goes away in the middle is what some tests are about."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serving(handler, host="127.0.0.1"):
    """handler: a dict of functions by method, each called with the request; its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, status, body=b"", **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            if not {"Content_Length", "Transfer_Encoding"} & set(headers):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def body(self):
            if self.headers.get("Transfer-Encoding") == "chunked":
                out = b""
                while size := int(self.rfile.readline(), 16):
                    out += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return out
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def __getattr__(self, name):
            if name.startswith("do_"):
                act = handler.get(name[3:]) or handler.get("*")
                if act:
                    return lambda: act(self)
            raise AttributeError(name)

    with Server((host, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Shelf:
    """A web server that takes files and gives them away (WebDAV's PUT, DELETE, MKCOL, MOVE, and pages of links), all in memory.
    `files`: bytes by path; `log`: what was done. before(request) may answer instead of it."""

    def __init__(self):
        self.files, self.dirs, self.log, self.before = {}, {"/"}, [], lambda r: False

    def etag(self, data):
        return '"%x"' % (hash(data) & (1 << 64) - 1)

    def act(self, r):
        path = urllib.parse.unquote(r.path.split("?")[0])
        body = r.body() if r.command in ("PUT", "PROPFIND") else None
        self.log.append((r.command, path))
        if self.before(r):
            return None
        return getattr(self, r.command.lower())(r, path, body)

    def put(self, r, path, body):
        if path.rsplit("/", 1)[0] + "/" not in self.dirs:
            return r.answer(409)
        self.files[path] = body
        return r.answer(201)

    def mkcol(self, r, path, _):
        if path.rstrip("/").rsplit("/", 1)[0] + "/" not in self.dirs:
            return r.answer(409)
        status = 405 if path in self.dirs else 201
        self.dirs.add(path)
        return r.answer(status)

    def propfind(self, r, path, _):
        return r.answer(405)

    def delete(self, r, path, _):
        if path in self.dirs:  # with all that is in it, as the standard has it
            self.files = {p: data for p, data in self.files.items() if not p.startswith(path)}
            self.dirs = {p for p in self.dirs if not p.startswith(path)}
            return r.answer(204)
        wanted = r.headers.get("If-Match")
        if wanted and path in self.files and wanted != self.etag(self.files[path]):
            return r.answer(412)
        return r.answer(204 if self.files.pop(path, None) is not None else 404)

    def move(self, r, path, _):
        to = urllib.parse.urlsplit(r.headers["Destination"])
        assert f"http://{to.netloc}" == self.url and not to.query and r.headers["Overwrite"] == "F"
        to = urllib.parse.unquote(to.path)
        if path not in self.dirs:
            return r.answer(404)
        if to in self.dirs or to in self.files:
            return r.answer(412)
        self.files = {to + p[len(path):] if p.startswith(path) else p: data for p, data in self.files.items()}
        self.dirs = {to + p[len(path):] if p.startswith(path) else p for p in self.dirs}
        return r.answer(201)

    def get(self, r, path, _):
        if path in self.files:
            data = self.files[path]
            first = int((r.headers.get("Range") or "bytes=0-").split("=")[1].split("-")[0])
            more = {"Content_Range": f"bytes {first}-{len(data) - 1}/{len(data)}"} if first or "Range" in r.headers else {}
            if first >= len(data) > 0:
                return r.answer(416)
            return r.answer(206 if more else 200, data[first:], ETag=self.etag(data), **more)
        if path.rstrip("/") + "/" in self.dirs:
            path = path.rstrip("/") + "/"
            inside = {p[len(path):].split("/", 1)[0] + "/" * ("/" in p[len(path):]) for p in {*self.files, *self.dirs}
                      if p.startswith(path) and p != path}
            return r.answer(200, "".join(f'<a href="{urllib.parse.quote(n)}">x</a>\n' for n in sorted(inside)).encode(),
                            Content_Type="text/html")
        return r.answer(404)

    head = get


@contextlib.contextmanager
def shelf():
    s = Shelf()
    with serving({"*": s.act}) as s.url:
        yield s


def environment(**more):
    """Nothing of this machine's clouds."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("AWS_", "GOOGLE_", "AZURE_", "CLOUDSDK_", "STORAGE_")) and "proxy" not in k.lower()}
    return kept | {"HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"} | more


class Store:
    """Questions about one address after another, and answers in Python's words."""

    def __init__(self, program=None, **env):
        self.fetcher = fetching.Fetcher(str(program or fetching.program()), environment(**env))

    def __enter__(self):
        self.fetcher.__enter__()
        return self

    def __exit__(self, *what):
        self.fetcher.__exit__(*what)
        assert what[0] or self.fetcher.child.returncode == 0  # also what a sanitizer has to say

    def ask(self, what, url, **fields):
        """(frames but the last; the failure, or None)."""
        got = self.fetcher.answer(fetching.question(what, url=url, **fields))
        return got[:-1], fetching.failure(got[-1]) if got[-1][0] == fetching.FAILED else None

    def list(self, url, **fields):
        """({name: entry}, why names are missing or None, the failure or None)."""
        got, failure = self.ask(fetching.LIST, url, **fields)
        out, why = {}, None
        for kind, payload in got:
            assert kind == fetching.ENTRIES
            for _, one in fetching.fields(payload):
                one = dict(fetching.fields(one))
                if NAME in one:
                    assert one[NAME].decode() not in out
                    out[one[NAME].decode()] = one
                else:
                    why = one[WHY].decode()
        return out, why, failure

    def names(self, url, **fields):
        got, why, failure = self.list(url, **fields)
        assert (why, failure) == (None, None)
        return sorted(name + "/" * one.get(IS_DIR, 0) for name, one in got.items())

    def head(self, url, **fields):
        got, failure = self.ask(fetching.HEAD, url, **fields)
        return failure or dict(fetching.fields(got[0][1]))

    def read(self, url, **fields):
        """(bytes, info, the failure or None)."""
        got, failure = self.ask(fetching.READ, url, **fields)
        info = [dict(fetching.fields(payload)) for kind, payload in got if kind == fetching.INFO]
        assert len(info) <= 1
        return b"".join(p for kind, p in got if kind == fetching.DATA), info[0] if info else None, failure

    def write(self, url, data, known=True, ends=True, piece=1 << 18, **fields):
        """The failure, or None."""
        fields |= {"length": len(data)} if known else {}
        with self.fetcher.ask(fetching.question(fetching.WRITE, url=url, **fields)) as stream:
            def send():
                with contextlib.suppress(OSError):
                    for at in range(0, len(data), piece):
                        part = data[at:at + piece]
                        stream.sendall(struct.pack("=II", fetching.DATA, len(part)) + part)
                    if ends:
                        stream.sendall(struct.pack("=II", fetching.END, 0))

            if not ends:
                return send()
            sender = threading.Thread(target=send)
            sender.start()
            got = list(fetching.frames(stream))
            sender.join()
        return fetching.failure(got[-1]) if got[-1][0] == fetching.FAILED else None
