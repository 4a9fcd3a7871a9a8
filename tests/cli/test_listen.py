"""Where `view_profile serve` listens: Unix sockets, sockets of a service manager, a prefix behind a
proxy; and the token that other addresses need."""
import html
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
import urllib.parse

import pytest

from serving import Serving, logged, make_runs, refused


@pytest.fixture
def runs(place):
    return make_runs(place.dir / "runs", 2)


# ---- Unix sockets ---------------------------------------------------------------------------

def test_a_unix_socket_is_private_and_goes_with_its_server(place, runs):
    path = place.dir / "s"
    with Serving(place, "--listen", f"unix:{path}", runs) as s:
        assert s.url == f"unix:{path}"
        mode = path.lstat().st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
        assert s.get("/healthz")[0] == 200
        assert "2026_01_01" in s.get("/")[2]
        assert s.get("/healthz", host="localhost:8080")[0] == 200  # the proxy's port
        assert s.get("/healthz", host="evil.example")[0] == 403
        assert s.raw(b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert s.raw(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        assert s.end(signal.SIGTERM)[0] == 0
    assert not path.exists()


def test_one_client_may_open_many_connections_to_a_unix_socket(place, runs):
    """A proxy is one client: the limit for one address does not hold."""
    with Serving(place, "--listen", f"unix:{place.dir}/s", runs) as s:
        open_ones = [s.connect() for _ in range(80)]
        assert s.get("/healthz")[0] == 200
        for c in open_ones:
            c.close()


def test_a_stale_socket_is_replaced_and_a_living_one_is_not(place, runs):
    path = place.dir / "s"
    with Serving(place, "--listen", f"unix:{path}", runs) as dead:
        dead.process.kill()
        dead.process.wait()
        assert path.is_socket()
        with Serving(place, "--listen", f"unix:{path}", runs) as s:
            code, err = refused(place, "--listen", f"unix:{path}", runs)
            assert code == 5 and "another server is listening" in err
            assert s.get("/healthz")[0] == 200
            assert s.end(signal.SIGINT)[0] == 0


def test_what_is_no_socket_is_left_alone(place, runs):
    (place.dir / "file").write_text("mine")
    assert refused(place, "--listen", "unix:file", runs)[0] == 5
    assert (place.dir / "file").read_text() == "mine"


def test_a_socket_that_somebody_replaced_is_left_alone(place, runs):
    path = place.dir / "s"
    with Serving(place, "--listen", f"unix:{path}", runs) as s:
        path.unlink()
        path.write_text("mine")
        assert s.end(signal.SIGTERM)[0] == 0
    assert path.read_text() == "mine"


@pytest.mark.parametrize("args,code", [
    (["--listen", "tcp:1"], 2), (["--listen", "unix:"], 2), (["--listen", "unix:s", "--port", "0"], 2),
    (["--listen", "unix:s", "--bind-all"], 2), (["--listen", "unix:" + "x" * 200], 5),
    (["--listen", "unix:no/such/dir/s"], 5)])
def test_listen_that_makes_no_sense(place, runs, args, code):
    assert refused(place, *args, runs)[0] == code


# ---- Socket activation ----------------------------------------------------------------------

def pass_sockets(*sockets):
    """For Popen: the sockets as descriptors 3, 4, … of a service that a manager starts."""
    numbers = [s.fileno() for s in sockets]

    def become():
        high = [os.dup2(n, 100 + i) for i, n in enumerate(numbers)]
        for i, n in enumerate(high):
            os.dup2(n, 3 + i)
            os.close(n)
    return {"preexec_fn": become, "close_fds": False}


def activated(place, sockets, *args, pid="$$"):
    return Serving(place, *args, shell=f"export LISTEN_PID={pid} LISTEN_FDS={len(sockets)}",
                   **pass_sockets(*sockets))


def tcp(address, family=socket.AF_INET, port=0):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.bind((address, port))
    s.listen(8)
    return s


def test_sockets_of_a_service_manager(place, runs):
    with tcp("127.0.0.1") as v4:
        port = v4.getsockname()[1]
        with tcp("::1", socket.AF_INET6, port) as v6, activated(place, [v4, v6], runs) as s:
            assert s.url == f"http://127.0.0.1:{port}/"
            assert s.get("/healthz")[0] == 200
            with socket.create_connection(("::1", port)) as c:
                c.sendall(f"GET /healthz HTTP/1.1\r\nHost: [::1]:{port}\r\n\r\n".encode())
                assert c.recv(100).startswith(b"HTTP/1.1 200 ")
            for fd in (3, 4):  # no child gets them
                info = open(f"/proc/{s.process.pid}/fdinfo/{fd}").read()
                assert int(re.search(r"flags:\s*(\d+)", info).group(1), 8) & os.O_CLOEXEC
            assert s.end(signal.SIGTERM)[0] == 0


def test_the_real_socket_activation(place, runs):
    """systemd's own tool listens, and starts us at the first connection."""
    tool = shutil.which("systemd-socket-activate") or "/lib/systemd/systemd-socket-activate"
    if not os.path.exists(tool):
        pytest.skip("SKIPPED: no systemd-socket-activate here")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    p = subprocess.Popen([tool, "-l", f"127.0.0.1:{port}", "view_profile", "serve", "--no-browser", str(runs)],
                         env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as c:
                    c.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                    assert c.recv(100).startswith(b"HTTP/1.1 200 ")
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        assert p.stdout.readline().decode() == f"http://127.0.0.1:{port}/\n"
        p.send_signal(signal.SIGTERM)
        assert p.wait(30) == 0
    finally:
        p.kill()
        p.communicate()


def test_a_unix_socket_of_a_service_manager_stays(place, runs):
    path = place.dir / "s"
    with socket.socket(socket.AF_UNIX) as u:
        u.bind(str(path))
        u.listen(8)
        with activated(place, [u], runs) as s:
            assert s.url == "unix:(inherited)"
            with socket.socket(socket.AF_UNIX) as c:
                c.connect(str(path))
                c.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
                assert c.recv(100).startswith(b"HTTP/1.1 200 ")
            assert s.end(signal.SIGTERM)[0] == 0
        assert path.exists()


def test_an_inherited_address_that_others_reach_needs_a_token(place, runs):
    with tcp("0.0.0.0") as any_address, activated(place, [any_address], runs) as s:
        assert re.search(r"\?token=[0-9a-f]{32}$", s.url)
        assert s.get("/")[0] == 401


def test_a_socket_of_another_network_needs_a_token(place, runs):
    """Whose program a client is cannot be seen from here, as in a service with PrivateNetwork."""
    if subprocess.run(["unshare", "-Urn", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("SKIPPED: this kernel permits no namespaces")
    with tcp("127.0.0.1") as v4:
        s = Serving(place, runs, shell="export LISTEN_PID=$$ LISTEN_FDS=1; set -- unshare -Urn \"$@\"", **pass_sockets(v4))
        with s:
            assert re.search(r"\?token=[0-9a-f]{32}$", s.url)
            assert s.get("/")[0] == 401
            assert s.get("/?" + s.url.split("?")[1])[0] == 303


def test_the_sandbox_leaves_the_users_to_be_told(place, runs):
    """The question goes to the kernel from inside, at every connection."""
    with Serving(place, "--port", 0, runs) as s:
        assert "token" not in s.url
        assert s.get("/api/v1/sessions")[0] == 200
        if os.geteuid():
            pytest.skip("SKIPPED: only root can be several users")
        pid = os.fork()
        if not pid:
            status = 1
            try:
                os.setresuid(34567, 34567, 34567)
                with socket.socket() as c:
                    c.connect(("127.0.0.1", s.port))
                    c.sendall(f"GET /api/v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n".encode())
                    status = 0 if c.recv(100).startswith(b"HTTP/1.1 403") else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_sockets_that_are_for_another_process(place, runs):
    with tcp("127.0.0.1") as v4, activated(place, [v4], "--port", 0, runs, pid=1) as s:
        assert s.port != v4.getsockname()[1]
        assert s.get("/healthz")[0] == 200


def test_descriptors_that_cannot_be_served(place, runs):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, tcp("127.0.0.1") as a, \
         tcp("127.0.0.1") as b, socket.socket() as idle:
        for sockets, why in [([udp], "not a listening stream socket"), ([idle], "not a listening"),
                             ([a, b], "different ports"), ([a] * 5, "at most 4")]:
            s = activated(place, sockets, runs)
            out, err = s.process.communicate(timeout=30)
            assert (s.process.returncode, s.url) == (5, "")
            assert why in err.decode()


# ---- A prefix behind a proxy ----------------------------------------------------------------

def links_of(page, at):
    found = re.findall(r'\s(?:href|src|action|data-headline|data-trace)="([^"#]*)', page)
    return {urllib.parse.urljoin(at, html.unescape(x)) for x in found if x}


@pytest.mark.parametrize("raw, status", [
    (b"", 308), (b"?n=5", 308), (b"?n=\x80\xff", 400), (b"?a=\x01", 400), (b"?a=\x1b[2J", 400), (b"?%zz", 400), (b"?%0d%0a", 400),
    (b"?a\\b", 400)])
def test_what_leads_below_the_prefix_is_an_address(place, runs, raw, status):
    """Nothing that no address may hold is copied into Location."""
    with Serving(place, "--port", 0, "--path-prefix", "/x", runs) as s:
        with s.connect() as c:
            c.sendall(b"GET /x" + raw + f" HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: c.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert (b"\r\nLocation: " in answer) == (status == 308)


@pytest.mark.parametrize("strips", [False, True])
def test_every_page_stays_below_the_prefix(place, runs, strips):
    """A proxy shows us at http://proxy.example/a/b/, and hands the path on as it is, or without the
    prefix. Whatever a page links to is below the prefix and answers."""
    with Serving(place, "--port", 0, "--path-prefix", "/a/b", "--allow-host", "proxy.example", runs) as s:
        assert s.url.endswith("/a/b/")
        seen, todo, pages = set(), {"http://proxy.example/a/b/"}, 0
        while todo:
            url = todo.pop()
            seen.add(url)
            assert url.startswith("http://proxy.example/a/b/"), url
            path = url.removeprefix("http://proxy.example")
            if "/tensorboard/" in path:
                continue  # would start one
            status, headers, body = s.get(path.removeprefix("/a/b") if strips else path, host="proxy.example")
            if status in (303, 308):
                to = urllib.parse.urljoin(url, headers["location"])
                todo |= {to} - seen
                continue
            assert status in (200, 400 if path.endswith("/compare") else 200), (path, status)
            if headers["content-type"].startswith("text/html"):
                pages += 1
                todo |= {u for u in links_of(body, url) if u.startswith("http://proxy.example")} - seen
        assert pages >= 5
        assert any("/session/" in u for u in seen) and any("/static/" in u for u in seen)
        assert any("/perfetto/" in u for u in seen) and any("/trace/" in u for u in seen)


def test_redirects_carry_the_prefix(place, runs):
    token = "0123456789abcdef0123"
    with Serving(place, "--port", 0, "--path-prefix", "/x", runs,
                 env={"VIEW_PROFILE_TOKEN": token}) as s:
        auth = f"Authorization: Bearer {token}"
        assert s.url == f"http://127.0.0.1:{s.port}/x/?token={token}"
        for front in ("", "/x"):
            status, headers, _ = s.get(f"{front}/session/z", auth)
            assert (status, headers["location"]) == (308, "/x/session/z/")
            status, headers, _ = s.get(f"{front}/compare?a=q&b=r", auth)
            assert status == 303 and headers["location"].startswith("/x/compare/")
            status, headers, _ = s.get(f"{front}/?q=1&token={token}&first=2")
            assert (status, headers["location"]) == (303, "/x/?q=1&first=2")
            assert "; Path=/x/; HttpOnly; SameSite=Strict" in headers["set-cookie"]
        assert s.get("/x", auth)[:2][1]["location"] == "/x/"
        assert s.get("/x?q=1", auth)[1]["location"] == "/x/?q=1"
        assert s.get("/xhealthz", auth)[0] == 404
        assert s.get("/x/x/healthz", auth)[0] == 404
        assert s.get("/x//evil.example", auth)[0] == 400


@pytest.mark.parametrize("prefix", ["x", "/", "/x/", "//x", "/a//b", "/..", "/a/./b", "/a b", "/a?b",
                                    "/" + "x" * 200])
def test_prefixes_that_make_no_sense(place, runs, prefix):
    code, err = refused(place, "--port", 0, "--path-prefix", prefix, runs)
    assert code == 5 and "path prefix" in err


def test_behind_a_proxy_that_speaks_tls(place, runs):
    """Its pages are of origin https://NAME, and their requests are our own when NAME is allowed."""
    with Serving(place, "--port", 0, "--allow-host", "proxy.example", runs) as s:
        own = {"host": "proxy.example"}
        assert s.get("/api/v1/sessions", "Origin: https://proxy.example", **own)[0] == 200
        assert s.get("/api/v1/sessions", "Origin: https://other.example", **own)[0] == 403
        local = f"127.0.0.1:{s.port}"
        assert s.get("/api/v1/sessions", f"Origin: http://{local}", host=local)[0] == 200
        assert s.get("/api/v1/sessions", f"Origin: https://{local}", host=local)[0] == 403


# ---- Tokens ---------------------------------------------------------------------------------

def test_a_token_is_made_anew_at_every_start_and_never_shown(place, runs):
    tokens = []
    for _ in range(2):
        with Serving(place, "--host", "0.0.0.0", "--port", 0, "--access-log", "log", runs) as s:
            token = s.url.split("?token=")[1]
            assert re.fullmatch(r"[0-9a-f]{32}", token)  # 128 bits
            tokens.append(token)
            assert s.get("/")[0] == 401
            assert s.get(f"/?token={token[:-1]}")[0] == 401
            assert s.get("/", f"Authorization: Bearer {token}")[0] == 200
            status, headers, _ = s.get(f"/?token={token}")
            cookie = headers["set-cookie"].split(";")[0]
            assert status == 303 and headers["location"] == "/"
            assert s.get("/", f"Cookie: {cookie}")[0] == 200
            assert s.get("/metrics")[0] == 401
            assert s.get("/healthz")[0] == 200
            for shown in ("cmdline", "environ"):
                with open(f"/proc/{s.process.pid}/{shown}", "rb") as f:
                    assert token.encode() not in f.read()
            code, out, err = s.end(signal.SIGTERM)
            assert code == 0 and token not in out + err
    log = (place.dir / "log").read_text()
    assert tokens[0] != tokens[1]
    assert len(logged(log)) == 14 and not any(t[:-1] in log for t in tokens)


def test_a_token_from_the_environment_or_a_file(place, runs):
    env = {"VIEW_PROFILE_TOKEN": "from-the-environment"}
    (place.dir / "token").write_text("from-the-file-0123\n")
    (place.dir / "token").chmod(0o600)
    with Serving(place, "--port", 0, runs, env=env) as s:
        assert s.url.endswith("/?token=from-the-environment")
        assert s.get("/")[0] == 401
        assert b"from-the-environment" not in open(f"/proc/{s.process.pid}/cmdline", "rb").read()
    with Serving(place, "--port", 0, "--token-file", "token", runs, env=env) as s:
        assert s.url.endswith("/?token=from-the-file-0123")
        assert "can read this token" not in s.end(signal.SIGTERM)[2]
    (place.dir / "token").chmod(0o644)
    with Serving(place, "--port", 0, "--token-file", "token", runs) as s:
        assert "token: other users can read this token" in s.end(signal.SIGTERM)[2]


@pytest.mark.parametrize("token", ["", "tiny-42", "has spaces in between it", "new\nline", "x" * 300])
def test_tokens_that_make_no_sense(place, runs, token):
    place.env["VIEW_PROFILE_TOKEN"] = token
    code, err = refused(place, "--port", 0, runs)
    assert code in (2, 5) and "token" in err.lower()
    assert not token or token not in err


def test_no_browser_sees_a_token(place, runs):
    """A browser gets its address on its command line, which every user of the machine can read."""
    seen = place.dir / "seen"
    browser = place.dir / "browser"
    browser.write_text(f"#!/bin/sh\necho started > {seen}\n")
    browser.chmod(0o755)
    p = subprocess.Popen(["view_profile", "--host", "0.0.0.0", "--port", "0", str(runs)], cwd=place.dir,
                         env={**place.env, "BROWSER": str(browser)}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"?token=" in p.stdout.readline()
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=30)
    assert p.returncode == 0
    assert b"open the URL yourself" in err
    assert not seen.exists()
