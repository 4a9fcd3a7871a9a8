"""`view_profile serve` as a user meets it: the address on stdout, the browser, the ends."""
import contextlib
import os
import pathlib
import re
import select
import signal
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from emulated import not_emulated

WAIT = 60


@pytest.fixture
def log_dir(place):
    return str(place.traces / "jax_cpu" / "three_runs")


def first_line(stream, seconds=WAIT):
    assert select.select([stream], [], [], seconds)[0], "no line in time"
    return stream.readline().decode()


def wait_until_ready(url):
    """The address is told before a slow index is there."""
    for _ in range(WAIT * 20):
        try:
            with urllib.request.urlopen(url.split("?")[0] + "readyz", timeout=WAIT):
                return
        except urllib.error.HTTPError as e:
            assert e.code == 503
            time.sleep(0.05)
    raise AssertionError("no index in time")


@contextlib.contextmanager
def serving(place, *args, env=None):
    """Runs view_profile until it prints its address; yields the process and the address."""
    process = subprocess.Popen(["view_profile", *args], cwd=place.dir, env={**place.env, **(env or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)
    try:
        line = first_line(process.stdout)
        while line and not line.startswith("http"):
            line = first_line(process.stdout)
        assert line, process.stderr.read().decode()
        wait_until_ready(line.strip())
        yield process, line.strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def get(url):
    """As a browser: redirections are followed and cookies kept."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(url, timeout=WAIT) as answer:
        return answer.status, answer.read().decode()


def end(process, which=signal.SIGINT):
    process.send_signal(which)
    out, err = process.communicate(timeout=WAIT)
    return process.returncode, out.decode(), err.decode()


def script(place, name, text):
    path = place.dir / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def assert_serves_bare(program, cwd, env):
    """Starts the program without arguments in a profile directory: it prints its address and serves its runs."""
    process = subprocess.Popen([program], cwd=cwd, env={**env, "BROWSER": "/bin/true"}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    try:
        url = first_line(process.stdout).strip()
        assert url.startswith("http"), process.stderr.read().decode()
        wait_until_ready(url)
        with urllib.request.urlopen(url, timeout=WAIT) as answer:
            assert "2026_11_21_06_34_02" in answer.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_bare_program_serves(place, log_dir):
    assert_serves_bare(place.program, log_dir, place.env)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_told_to_stop(place, log_dir, which):
    with serving(place, "--port", "0", "--no-browser", log_dir) as (process, url):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        assert get(url + "healthz")[0] == 200
        status, page = get(url)
        assert status == 200 and "2026_11_21_06_34_02" in page
        code, out, err = end(process, which)
        assert code == 0
        assert out == ""
        assert "three_runs: 2 runs" in err


def test_serve_is_the_default_and_a_command(place, log_dir):
    with serving(place, "serve", "--profile-dir", log_dir, "--port=0", "--no-browser") as (process, url):
        assert get(url + "healthz")[0] == 200
        assert end(process)[0] == 0


def test_quiet_says_nothing_but_the_address(place, log_dir):
    with serving(place, "-q", "--port", "0", "--no-browser", log_dir) as (process, _):
        assert end(process) == (0, "", "")


def test_second_server_takes_the_next_port(place, log_dir):
    with serving(place, "--no-browser", log_dir) as (first, a), \
         serving(place, "--no-browser", log_dir) as (second, b):
        ports = [int(url.split(":")[2].strip("/")) for url in (a, b)]
        assert 9001 <= ports[0] < ports[1] <= 9021
        assert end(second)[0] == 0 and end(first)[0] == 0


def test_a_given_port_that_is_taken_is_an_error(place, log_dir):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(["view_profile", "--port", str(port), "--no-browser", log_dir],
                              env=place.env, capture_output=True, text=True, timeout=WAIT)
        assert done.returncode == 5
        assert done.stdout == ""
        assert re.fullmatch(rf"view_profile: .*\b{port}\b.*\n", done.stderr)


def test_an_address_that_is_none_is_an_error(place, log_dir):
    done = subprocess.run(["view_profile", "--host", "256.1.1.1", "--no-browser", log_dir],
                          env=place.env, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 5
    assert re.fullmatch(r"view_profile: .*256\.1\.1\.1.*\n", done.stderr)


@pytest.mark.parametrize("ui,page", [("both", ""), ("none", ""), ("perfetto", "perfetto/"),
                                     ("tensorboard", "tensorboard/")])
def test_browser_is_started_by_argv(place, log_dir, ui, page):
    """$BROWSER gets the address as one argument; no shell sees it."""
    browser = script(place, "browser", f'printf "%s\\n" "$#" "$@" > {place.dir}/seen.tmp\n'
                                       f"mv {place.dir}/seen.tmp {place.dir}/seen\n")
    with serving(place, "--port", "0", "--ui", ui, log_dir, env={"BROWSER": browser}) as (process, url):
        seen, until = place.dir / "seen", time.monotonic() + WAIT
        while not seen.exists() and time.monotonic() < until:
            time.sleep(0.02)
        count, opened = seen.read_text().split()
        assert count == "1"
        assert opened.startswith(url + page)
        assert (opened == url) == (page == "")
        assert end(process)[0] == 0


def test_no_browser_is_a_warning(place, log_dir):
    not_emulated("vfork is fork, and why a program cannot be started is not heard")
    with serving(place, "--port", "0", log_dir, env={"BROWSER": "/no/such/browser"}) as (process, url):
        assert get(url + "healthz")[0] == 200
        code, _, err = end(process)
        assert code == 0
        assert "open the URL yourself" in err


def test_over_ssh_the_tunnel_is_printed(place, log_dir):
    env = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
    with serving(place, "--port", "0", log_dir, env=env) as (process, url):
        port = url.split(":")[2].strip("/")
        code, _, err = end(process)
        assert code == 0
        assert re.search(rf"ssh .*-L {port}:(localhost|127\.0\.0\.1):{port} \S+\n", err)


def test_bind_all_needs_its_token(place, log_dir):
    with serving(place, "--bind-all", "--port", "0", "--no-browser", log_dir) as (process, url):
        port = re.search(r":(\d+)/", url).group(1)
        token = re.search(r"[?&]token=([^&]+)", url).group(1)
        assert len(token) >= 20
        with pytest.raises(urllib.error.HTTPError) as refused:
            get(f"http://127.0.0.1:{port}/")
        assert refused.value.code in (401, 403)
        assert get(f"http://127.0.0.1:{port}/?token={token}")[0] == 200
        assert end(process)[0] == 0


def test_token_file(place, log_dir):
    (place.dir / "token").write_text("a-token-of-some-length-0123456789\nsecond line\n")
    args = ["--token-file", "token", "--host", "0.0.0.0", "--port", "0", "--no-browser", log_dir]
    with serving(place, *args) as (process, url):
        assert url.endswith("?token=a-token-of-some-length-0123456789")
        assert end(process)[0] == 0


@pytest.mark.parametrize("content", ["", "\n", "x" * 300])
def test_token_file_without_a_token(place, log_dir, content):
    (place.dir / "token").write_text(content)
    done = subprocess.run(["view_profile", "--token-file", "token", "--no-browser", log_dir],
                          cwd=place.dir, env=place.env, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 2
    assert done.stderr.startswith("view_profile: token: ")


def test_extract_serves_what_it_unpacked(place, log_dir):
    with serving(place, "--extract", "--port", "0", "--no-browser", log_dir) as (process, url):
        assert "2026_11_21_06_34_02" in get(url)[1]
        code, _, err = end(process)
        assert code == 0
        unpacked = re.search(r"serving (\S+): 2 runs", err).group(1)
        assert pathlib.Path(unpacked).parent == place.temp
        assert list(pathlib.Path(unpacked).rglob("*.trace.json"))


def test_extract_without_a_viewer_ends(place, log_dir):
    done = subprocess.run(["view_profile", "--extract", "--ui", "none", log_dir], env=place.env,
                          capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 0
    assert place.normal(done.stdout) == ("Extracting trace files to: $TEMP/view_profile_XXXXXX\n"
                                         "Extracted 4 trace files\n")


def test_the_profile_directory_is_never_written_to(place, log_dir):
    def state():
        return sorted((str(p), p.stat().st_mtime_ns) for p in pathlib.Path(log_dir).rglob("*"))
    before = state()
    with serving(place, "--extract", "--port", "0", "--no-browser", log_dir) as (process, url):
        get(url)
        assert end(process)[0] == 0
    assert state() == before
    assert not os.path.exists(place.dir / "plugins")
