"""Who may ask a recorder for something: its own user alone, whatever the permissions of the socket have
become since. Other users are played by children that give their own up, which takes root."""
import errno
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import pytest
from recording import WAIT, ask, compile_linked, environment
from users import why_not

NOBODY = 65534
REFUSED = -8  # VP_EREFUSED

PROGRAM = r"""#include <view_profile_capture.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    int rc = vp_control_start(NULL);
    printf("%d %s\n", rc, rc < 0 ? vp_error_last()->path : "");
    fflush(stdout);
    if (rc == 0)
        pause();
    return 0;
}
"""

as_root = pytest.mark.skipif(bool(why_not()), reason=why_not())


def as_user(uid, what):
    """What a child of another user finds: `what` has no way back but its result, which is JSON."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(into, json.dumps(what()).encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def ask_as(uid, sock, line):
    """What becomes of one line of another user: "answer", "closed", or the errno."""
    def what():
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            try:
                s.connect(str(sock))
                s.sendall(line.encode() + b"\n")
                return "answer" if s.recv(65536) else "closed"
            except (ConnectionResetError, BrokenPipeError):
                return "closed"
            except OSError as e:
                return e.errno
    return as_user(uid, what)


@pytest.fixture
def runtime():
    """A runtime directory that other users can come to, unlike pytest's own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="vp_runtime_", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def app(program, place, runtime):
    return compile_linked(program, runtime / "app", PROGRAM)


@pytest.fixture
def started(app, place, runtime):
    running = []

    def start(at=None, **more):
        env = {**environment(place), "XDG_RUNTIME_DIR": str(at or runtime)}
        p = subprocess.Popen([app], cwd="/", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        running.append(p)
        line = p.stdout.readline().strip()
        assert line, p.communicate(timeout=WAIT)[1]
        rc, _, path = line.partition(" ")
        return p, int(rc), path

    yield start
    for p in running:
        p.kill()
        p.communicate(timeout=WAIT)


def test_the_directory_is_its_users_alone(started, runtime):
    p, rc, _ = started()
    assert rc == 0
    mode = stat.S_IMODE((runtime / "view_profile").stat().st_mode)
    sock = runtime / "view_profile" / f"{p.pid}.sock"
    assert (mode, stat.S_IMODE(sock.stat().st_mode)) == (0o700, 0o600)


@as_root
def test_another_user_does_not_come_to_the_socket(started, runtime):
    p, rc, _ = started()
    assert rc == 0
    assert ask_as(NOBODY, runtime / "view_profile" / f"{p.pid}.sock", "STATUS") == errno.EACCES


@as_root
def test_another_user_gets_no_answer(started, runtime, place):
    """Even where permissions that somebody has loosened let him connect."""
    p, rc, _ = started()
    assert rc == 0
    sock = runtime / "view_profile" / f"{p.pid}.sock"
    sock.parent.chmod(0o755)
    sock.chmod(0o666)
    for line in ("STATUS", "CAPTURE ms=10", "PAST", "STOP"):
        assert ask_as(NOBODY, sock, line) == "closed"
    assert ask_as(0, sock, "STATUS") == "answer"  # the very same way, as its own user
    status = ask(runtime, p.pid, "STATUS")
    assert status["ok"] and status["state"] == "idle" and status["captures"] == 0


@as_root
def test_root_is_another_user_too(started, runtime):
    """A recorder of nobody's: what it answers goes to nobody."""
    theirs = runtime / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, NOBODY, NOBODY)
    p, rc, _ = started(theirs, user=NOBODY, group=NOBODY, extra_groups=[])
    assert rc == 0
    sock = theirs / "view_profile" / f"{p.pid}.sock"
    assert ask_as(0, sock, "STATUS") == "closed"
    assert ask_as(NOBODY, sock, "STATUS") == "answer"


@as_root
def test_a_directory_of_somebody_else_is_refused(started, runtime):
    (runtime / "view_profile").mkdir(mode=0o700)
    os.chown(runtime / "view_profile", NOBODY, NOBODY)
    _, rc, path = started()
    assert rc == REFUSED and path == str(runtime / "view_profile")
    assert list((runtime / "view_profile").iterdir()) == []


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_directory_that_others_see_into_is_refused(started, runtime, mode):
    (runtime / "view_profile").mkdir()
    (runtime / "view_profile").chmod(mode)
    _, rc, path = started()
    assert rc == REFUSED and path == str(runtime / "view_profile")


def test_a_link_is_no_directory(started, runtime):
    (runtime / "real").mkdir(mode=0o700)
    (runtime / "view_profile").symlink_to(runtime / "real")
    _, rc, _ = started()
    assert rc == REFUSED and list((runtime / "real").iterdir()) == []


@as_root
def test_the_viewer_believes_no_socket_of_somebody_else(started, place, runtime):
    """A stranger who listens where this user looks is neither listed nor told anything."""
    p, rc, _ = started()
    assert rc == 0
    out, into = os.pipe()
    stranger = os.fork()
    if stranger == 0:
        try:
            s = socket.socket(socket.AF_UNIX)
            s.bind(str(runtime / "view_profile" / f"{os.getpid()}.sock"))
            os.chmod(runtime / "view_profile" / f"{os.getpid()}.sock", 0o666)
            os.setgroups([])
            os.setuid(NOBODY)
            s.listen(8)  # from here on this is whom its peers see
            os.write(into, b"up\n")
            c, _ = s.accept()
            os.write(into, c.recv(100) or b"nothing")
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as heard:
        try:
            assert heard.readline() == "up\n"
            done = subprocess.run(["view_profile", "list", "."], cwd=place.dir, capture_output=True, text=True, timeout=WAIT,
                                  env={**environment(place), "XDG_RUNTIME_DIR": str(runtime)})
        finally:
            os.kill(stranger, signal.SIGKILL)
            os.waitpid(stranger, 0)
        assert f"process {p.pid}," in done.stdout + done.stderr
        assert f"process {stranger}," not in done.stdout + done.stderr
        assert "STATUS" not in heard.read()
