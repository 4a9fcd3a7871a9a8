"""Web servers as log directories: listed, read and written by view_profile-fetch as they are, and whatever goes wrong
there is told in one line."""
import functools
import hashlib
import http.server
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fetching  # noqa: E402
from stores import BYTES, ETAG, IS_DIR, MTIME, Server, Store, serving  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
EARG, EIO, ENOTFOUND, EREFUSED, EREMOTE = -2, -3, -6, -8, -12

NGINX = """
{user} daemon off; pid {prefix}/pid; error_log {prefix}/error.log; worker_processes 1; events {{ worker_connections 64; }}
http {{
  access_log {prefix}/access.log; client_body_temp_path {prefix}/t1; proxy_temp_path {prefix}/t2;
  fastcgi_temp_path {prefix}/t3; uwsgi_temp_path {prefix}/t4; scgi_temp_path {prefix}/t5; default_type x/y;
  server {{
    listen 127.0.0.1:{port}; root {prefix}/www; autoindex on; client_max_body_size 0;
    dav_methods PUT DELETE MKCOL MOVE;
  }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("it does not listen")


FILES = {"plugins/profile/run 1/a.xplane.pb": 300_000, "plugins/profile/run 1/b&c.xplane.pb": 5,
         "plugins/profile/Zug_ü/%41.pb": 17, "plugins/empty": 0, "top.pb": 2_000_000}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    at = tmp_path_factory.mktemp("web")
    for name, size in FILES.items():
        (at / "www" / name).parent.mkdir(parents=True, exist_ok=True)
        (at / "www" / name).write_bytes(random.Random(name).randbytes(size))
        os.utime(at / "www" / name, (1_700_000_000, 1_700_000_000))
    return at


@pytest.fixture(scope="module")
def nginx(tree):
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    assert os.path.exists(program), "nginx is missing: scripts/setup --test installs it"
    port = free_port()
    (tree / "nginx.conf").write_text(NGINX.format(prefix=tree, port=port, user="user root;" if os.geteuid() == 0 else ""))
    with subprocess.Popen([program, "-p", str(tree), "-c", str(tree / "nginx.conf")]) as process:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def python(tree):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with Server(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tree / "www"))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["nginx", "python"])
def web(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def store():
    with Store() as one:
        yield one


def test_one_level(store, web):
    assert store.names(web) == ["plugins/", "top.pb"]
    assert store.names(web + "/plugins/profile/") == ["Zug_ü/", "run 1/"]
    assert store.names(web + "/plugins/profile/run%201") == ["a.xplane.pb", "b&c.xplane.pb"]


def test_everything_beneath(store, web):
    got, why, failure = store.list(web, flat=True)
    assert (why, failure) == (None, None)
    assert {name: (one[BYTES], one[MTIME]) for name, one in got.items()} == {
        name: (size, 1_700_000_000 * 10**9) for name, size in FILES.items()}


def test_head(store, nginx):
    one = store.head(nginx + "/top.pb")
    assert (one[BYTES], one[MTIME]) == (2_000_000, 1_700_000_000 * 10**9) and one[ETAG]
    code, message, status = store.head(nginx + "/none")
    assert (code, status) == (ENOTFOUND, 404) and message


@pytest.mark.parametrize("offset,length", [(0, None), (0, 1), (5, 100_000), (1_999_999, 1), (1_999_990, 100), (7, None),
                                           (2_000_000, 5), (3_000_000, 5), (0, 0)])
def test_parts(store, web, tree, offset, length):
    """Also of a server that sends all of it."""
    whole = (tree / "www/top.pb").read_bytes()
    fields = {"offset": offset} | ({} if length is None else {"length": length})
    data, info, failure = store.read(web + "/top.pb", **fields)
    assert failure is None and info[BYTES] == 2_000_000
    assert data == whole[offset:][:length]


def test_a_version_is_kept_to(store, nginx, tree):
    etag = store.head(nginx + "/top.pb")[ETAG]
    assert store.read(nginx + "/top.pb", etag=etag, length=3)[2] is None
    data, _, (code, message, status) = store.read(nginx + "/top.pb", etag=b'"other"', length=3)
    assert (data, code, status) == (b"", EIO, 412) and "changed while being read" in message


@pytest.mark.parametrize("known", [True, False])
def test_write(store, nginx, tree, known):
    data = random.Random(3).randbytes(3_000_000)
    assert store.write(f"{nginx}/new/{known}/deep/file%20x", data, known) is None
    assert (tree / f"www/new/{known}/deep/file x").read_bytes() == data
    shutil.rmtree(tree / "www/new")


def test_what_is_not_ended_is_not_written(store, nginx, tree):
    store.write(nginx + "/half.pb", b"x" * 100_000, known=False, ends=False)
    time.sleep(0.5)
    assert not (tree / "www/half.pb").exists()


def test_a_server_that_takes_nothing(store, python):
    code, message, _ = store.write(python + "/x", b"abc")
    assert code < 0 and "does not allow uploads" in message


# ---- WebDAV ----

def response(href, inside):
    return (f"<D:response><D:href>{href}</D:href><D:propstat><D:prop>{inside}</D:prop>"
            "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>")


def multistatus(*responses):
    return ('<?xml version="1.0"?>\n<!-- x --><D:multistatus xmlns:D="DAV:">' + "".join(responses) +
            "</D:multistatus>").encode()


DIR = "<D:resourcetype><D:collection/></D:resourcetype>"


def dav(pages):
    def propfind(r):
        assert r.headers["Depth"] == "1" and b"propfind" in r.body()
        page = pages.get(r.path.rstrip("/"))
        r.answer(207 if page else 404, page or b"", Content_Type="application/xml")
    return {"PROPFIND": propfind}


def test_webdav(store):
    file = ("<D:resourcetype/><D:getcontentlength>12</D:getcontentlength><D:getetag>\"a&amp;b\"</D:getetag>"
            "<D:getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT</D:getlastmodified>")
    pages = {"/logs": multistatus(response("/logs/", DIR), response("/logs/r%20%C3%BC/", DIR), response("/logs/x&amp;y.pb", file)),
             "/logs/r%20%C3%BC": multistatus(response("/logs/r%20%C3%BC/", DIR), response("http://h/logs/r%20%C3%BC/z.pb", file))}
    with serving(dav(pages)) as url:
        got, why, failure = store.list(url + "/logs")
        assert (why, failure) == (None, None)
        assert got["r ü"][IS_DIR] == 1 and set(got) == {"r ü", "x&y.pb"}
        assert (got["x&y.pb"][BYTES], got["x&y.pb"][MTIME], got["x&y.pb"][ETAG]) == (12, 1_700_000_000 * 10**9, b'"a&b"')
        assert store.names(url + "/logs/", flat=True) == ["r ü/z.pb", "x&y.pb"]


@pytest.mark.parametrize("page", [b"<a", b"<a><b></a>", b"", b"<!DOCTYPE x><a/>", b"<a>&xxe;</a>", b"<a/><b/>",
                                  multistatus(response("/x", DIR))[:-5], b"<a>" * 100, b"<a>" + b"x" * 10_000 + b"</a>"])
def test_webdav_that_is_none(store, page):
    with serving({"PROPFIND": lambda r: (r.body(), r.answer(207, page))}) as url:
        _, _, (code, message, _) = store.list(url)
        assert code < 0 and "\n" not in message


def test_names_that_lead_elsewhere(store):
    names = ["..", "%2e%2e", "a%0Ab", "a%00b", "..%2fx", "x%1b%5b31m", "n" * 2000, "fine"]
    pages = {"/l": multistatus(response("/l/", DIR), response("/etc/passwd", ""), *(response("/l/" + n, "") for n in names))}
    with serving(dav(pages)) as url:
        got, why, failure = store.list(url + "/l")
        assert failure is None and set(got) == {"fine"} and why.startswith(f"{len(names) - 1} names were skipped")


def test_an_index_page_that_leads_elsewhere(store):
    page = b"""<a href="../">up</a><a href='/etc/passwd'>p</a><a href="http://elsewhere/l/x">x</a><a href="?C=N;O=D">N</a>
        <a href="%2e%2e/">y</a><a href="a%0ab">z</a><a href="sub/">s</a><a href="./f">f</a><a href="/l/g">g</a>"""

    def get(r):
        r.answer(200, page if r.path == "/l/" else b"12345", Content_Type="text/html")
    with serving({"GET": get, "HEAD": get}) as url:
        got, why, failure = store.list(url + "/l")
        assert failure is None and set(got) == {"sub", "f", "g"}, got
        assert why.startswith("2 names were skipped")
        assert got["f"][BYTES] == 5


def test_what_is_no_directory(store, nginx):
    _, _, (code, message, _) = store.list(nginx + "/none")
    assert code == ENOTFOUND
    with serving({"GET": lambda r: r.answer(200, b"x", Content_Type="text/plain")}) as url:
        assert "neither WebDAV" in store.list(url)[2][1]


# ---- What goes wrong ----

@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(store, status):
    tries = []

    def get(r):
        tries.append(time.monotonic())
        r.answer(200 if len(tries) == 4 else status, b"here")
    with serving({"GET": get}) as url:
        assert store.read(url + "/x")[0] == b"here"
    gaps = [b - a for a, b in zip(tries, tries[1:])]
    assert len(gaps) == 3 and gaps[0] > 0.09 and gaps[2] > 0.35


@pytest.mark.waits
def test_what_does_not_pass(store):
    tries = []
    with serving({"GET": lambda r: (tries.append(1), r.answer(503, b"<Error><Message>Slow \x1b[1m down</Message></Error>",
                                                                 Retry_After="1"))}) as url:
        began = time.monotonic()
        _, _, (code, message, status) = store.read(url + "/x")
        assert (code, status, len(tries)) == (EREMOTE, 503, 5) and time.monotonic() - began > 4
        assert "Slow" in message and "\x1b" not in message


def test_nothing_listens(store):
    began = time.monotonic()
    _, _, (code, message, status) = store.read(f"http://127.0.0.1:{free_port()}/x")
    assert code == EREMOTE and "cannot connect" in message and status is None and time.monotonic() - began < 5


@pytest.mark.parametrize("url", ["http://", "http://a b/", "ftp://x/y", "x", "", "http://127.0.0.1:99999/",
                                 "http://x\0y/"])
def test_what_is_no_address(store, url):
    _, _, (code, message, _) = store.read(url)
    assert code == EARG and message


def test_a_connection_that_breaks_is_taken_up(store):
    whole = random.Random(1).randbytes(1_000_000)
    asked = []

    def get(r):
        begin = int(re.match(r"bytes=(\d+)-", r.headers.get("Range", "bytes=0-"))[1])
        asked.append((begin, r.headers.get("If-Match")))
        head = {"Content_Range": f"bytes {begin}-999999/1000000"} if "Range" in r.headers else {}
        r.answer(206 if head else 200, whole[begin:begin + 300_000], Content_Length=str(1_000_000 - begin), ETag='"v"',
                 **head)
        r.close_connection = True
    with serving({"GET": get}) as url:
        data, info, failure = store.read(url + "/x")
    assert failure is None and hashlib.sha256(data).digest() == hashlib.sha256(whole).digest() and info[BYTES] == 1_000_000
    assert [begin for begin, _ in asked] == [0, 300_000, 600_000, 900_000]
    assert [etag for _, etag in asked] == [None, '"v"', '"v"', '"v"']


@pytest.mark.parametrize("then,code,words", [("changed", EIO, "changed while being read"),
                                             ("deleted", ENOTFOUND, "deleted while being read")])
def test_what_does_not_stay(store, then, code, words):
    tries = []

    def get(r):
        tries.append(1)
        if len(tries) == 1:
            r.answer(200, b"x" * 1000, Content_Length="5000", ETag='"1"')
            r.close_connection = True
        elif then == "deleted":
            r.answer(404)
        else:  # a server that knows no If-Match
            r.answer(206, b"y" * 4000, ETag='"2"', Content_Range="bytes 1000-4999/5000")
    with serving({"GET": get}) as url:
        data, _, failure = store.read(url + "/x")
    assert failure[0] == code and words in failure[1]


def test_other_bytes_than_asked(store):
    with serving({"GET": lambda r: r.answer(206, b"xx", Content_Range="bytes 0-1/9")}) as url:
        assert store.read(url + "/x", offset=5)[2][1] == "the server returned a different byte range than requested"


def test_at_most_four_at_once(store):
    now, most, lock = 0, 0, threading.Lock()

    def get(r):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.4)
        with lock:
            now -= 1
        r.answer(200, b"x")
    with serving({"GET": get}) as url:
        streams = [store.fetcher.ask(fetching.question(fetching.READ, url=f"{url}/{i}")) for i in range(12)]
        for stream in streams:
            assert list(fetching.frames(stream))[-1][0] == fetching.DONE
            stream.close()
    assert most == 4


def test_who_does_not_read_keeps_nobody_waiting(store, nginx):
    idle = [store.fetcher.ask(fetching.question(fetching.READ, url=nginx + "/top.pb")) for _ in range(8)]
    time.sleep(0.3)
    assert store.head(nginx + "/top.pb")[BYTES] == 2_000_000
    for stream in idle:
        assert sum(len(p) for kind, p in fetching.frames(stream) if kind == fetching.DATA) == 2_000_000
        stream.close()


def test_who_goes_away_ends_the_request(store):
    begun, gone = threading.Event(), threading.Event()

    def get(r):
        begun.set()
        try:
            r.answer(200, b"", Content_Length="1000000000")
            while True:
                r.wfile.write(b"x" * 10)
                time.sleep(0.02)
        except OSError:
            gone.set()
    with serving({"GET": get}) as url:
        with store.fetcher.ask(fetching.question(fetching.READ, url=url + "/x")):
            assert begun.wait(5)
        assert gone.wait(5)


# ---- Redirects ----

def test_redirects(store):
    def get(r):
        if r.path == "/a":
            return r.answer(302, Location="/b")
        r.answer(200, b"there") if r.path == "/b" else r.answer(302, Location=r.path)
    with serving({"GET": get}) as url:
        assert store.read(url + "/a")[0] == b"there"
        assert "too many redirects" in store.read(url + "/c")[2][1]


@pytest.mark.parametrize("to", ["http://169.254.169.254/latest/", "http://[::ffff:169.254.169.254]/", "http://0xa9fea9fe/",
                                "http://[fe80::1]/", "http://[fd00:ec2::254]/"])
def test_redirects_to_metadata_are_refused(store, to):
    with serving({"GET": lambda r: r.answer(302, Location=to)}) as url:
        _, _, (code, message, _) = store.read(url + "/x")
        assert code == EREFUSED and "redirect to a loopback or link-local address refused" in message


def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.1"


@pytest.mark.skipif(own_address().startswith("127."), reason="SKIP: this machine has no address but loopback")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "127.1"])
def test_redirects_to_this_machine_are_refused(store, host):
    asked = []
    with serving({"GET": lambda r: (asked.append(1), r.answer(200, b"secret"))}) as inner:
        port = inner.rsplit(":")[-1]
        assert store.read(inner)[0] == b"secret"  # leaves a connection that could be used again
        with serving({"GET": lambda r: r.answer(302, Location=f"http://{host}:{port}/")}, own_address()) as outer:
            data, _, (code, message, _) = store.read(outer)
    assert (data, code, len(asked)) == (b"", EREFUSED, 1) and "redirect to a loopback or link-local address refused" in message


@pytest.mark.parametrize("to", ["file:///etc/passwd", "gopher://x/", "http://"])
def test_redirects_to_other_protocols(store, to):
    with serving({"GET": lambda r: r.answer(302, Location=to)}) as url:
        assert store.read(url + "/x")[2][0] in (EREMOTE, EREFUSED)


def test_credentials_stay_with_their_host(store):
    """The user and password of an address."""
    seen = []
    with serving({"GET": lambda r: (seen.append(r.headers.get("Authorization")), r.answer(200, b"x"))}) as other:
        with serving({"GET": lambda r: (seen.append(r.headers.get("Authorization")), r.answer(302, Location=other))}) as url:
            assert store.read(url.replace("//", "//me:pass@"))[0] == b"x"
    assert seen == ["Basic bWU6cGFzcw==", None]


# ---- Proxies and certificates ----

def test_a_proxy_of_the_environment():
    asked = []
    with serving({"GET": lambda r: (asked.append(r.path), r.answer(200, b"by proxy"))}) as proxy, \
            serving({"GET": lambda r: r.answer(200, b"direct")}) as url, Store(http_proxy=proxy) as store:
        assert store.read("http://elsewhere.invalid/x")[0] == b"by proxy"
        assert store.read(url)[0] == b"direct"  # never for this machine
    assert asked == ["http://elsewhere.invalid/x"]


def test_a_proxy_that_is_not_there():
    with Store(http_proxy=f"http://127.0.0.1:{free_port()}") as store:
        assert store.read("http://elsewhere.invalid/x")[2][0] == EREMOTE


def test_redirects_behind_a_proxy():
    """It could reach what we must not."""
    with serving({"GET": lambda r: r.answer(302, Location="http://localhost/x")}) as proxy, Store(http_proxy=proxy) as store:
        assert store.read("http://elsewhere.invalid/x")[2][0] == EREFUSED


@pytest.mark.waits
def test_which_host_of_a_cloud_is_asked():
    """By what a proxy is asked to connect to. All at once, since each is tried again for seconds."""
    wanted = {"s3://bkt-name/x": {"bkt-name.s3.amazonaws.com", "bkt-name.s3.eu-west-9.amazonaws.com"},
              "s3://bkt.dots/x": {"s3.eu-west-9.amazonaws.com"}, "gs://bkt/x": {"storage.googleapis.com"},
              "abfss://box@acc.dfs.core.windows.net/x": {"acc.blob.core.windows.net"},
              "abfs://box@gov.dfs.core.usgovcloudapi.net/x": {"gov.blob.core.usgovcloudapi.net"}}
    asked = []
    with serving({"*": lambda r: (asked.append(r.path.partition(":")[0]), r.answer(502))}) as proxy, \
            Store(https_proxy=proxy, AWS_REGION="eu-west-9") as store:
        threads = [threading.Thread(target=store.list, args=(url,), kwargs={"unsigned": True}) for url in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(asked) <= set.union(*wanted.values()), asked
    assert all(hosts & set(asked) for hosts in wanted.values()), asked


def test_certificates_are_verified(tmp_path):
    import ssl
    key, cert = tmp_path / "key", tmp_path / "cert"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        url = f"https://localhost:{server.server_port}/x"
        with Store() as store:
            code, message, _ = store.read(url)[2]
        assert code == EREFUSED and "certificate verification failed" in message
        with Store(SSL_CERT_FILE=str(cert)) as store:
            assert store.read(url)[0] == b"ok"
        server.shutdown()
        thread.join()
