"""`view_profile extract`: whole files or none, whatever happens; a later run goes on where an earlier
one ended; and archives that somebody else made do nothing but what they are asked for."""
import gzip
import hashlib
import io
import json
import os
import pty
import random
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

from emulated import not_emulated

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from used import run_used  # noqa: E402

RUN = "plugins/profile/2026_01_01_00_00_00"
WAIT = 60
MEMORY = 64 << 20  # what a bomb may take beyond the program itself


def trace(name="op", size=0):
    """A small timeline; with a size, at least that long."""
    body = {"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "name": name}]}
    return json.dumps(body).encode() + b" " * size


def extract(place, archive, *options, out="o", ok=(0,)):
    done = subprocess.run(["view_profile", "extract", "--out", out, *options, archive],
                          cwd=place.dir, env=place.env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=WAIT, errors="replace")
    assert done.returncode in ok, (done.returncode, done.stderr)
    assert all(line.startswith("view_profile: ") for line in done.stderr.splitlines()), done.stderr
    return done


def files(root):
    """name → content of what a user sees."""
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*"))
            if p.is_file() and not p.name.startswith(".")}


def made(done):
    return int(done.stdout.split("Extracted ")[1].split()[0])


def make_tar(path, members, mode="w"):
    with tarfile.open(path, mode) as t:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(body), 1_700_000_000
            t.addfile(info, io.BytesIO(body))


@pytest.fixture
def many(place):
    """An archive of 40 files of 1 MB that do not compress, and what they unpack to."""
    rnd = random.Random(7)
    contents = {f"plugins/profile/2026_01_01_00_00_{i:02}/vm.trace.json":
                trace(rnd.randbytes(500_000).hex()) for i in range(40)}
    make_tar(place.dir / "many.tar", contents)
    return contents


# ---- Going on where it ended ----

def test_a_second_run_finds_all_there(place, many):
    assert made(extract(place, "many.tar")) == 40
    before = {p: p.stat().st_mtime_ns for p in (place.dir / "o").rglob("*")}
    again = extract(place, "many.tar")
    assert made(again) == 0
    assert "view_profile: 40 files were already complete" in again.stderr
    assert {p: p.stat().st_mtime_ns for p in (place.dir / "o").rglob("*")} == before
    assert files(place.dir / "o") == many


def test_what_is_gone_or_cut_is_made_again(place, many):
    extract(place, "many.tar")
    names = sorted(many)
    (place.dir / "o" / names[3]).unlink()
    os.truncate(place.dir / "o" / names[5], 1000)
    shutil.rmtree((place.dir / "o" / names[7]).parent)
    assert made(extract(place, "many.tar")) == 3
    assert files(place.dir / "o") == many


def test_a_source_that_changed_replaces_what_it_had_become(place):
    make_tar(place.dir / "a.tar", {f"{RUN}/vm.trace.json": trace("before")})
    extract(place, "a.tar")
    make_tar(place.dir / "a.tar", {f"{RUN}/vm.trace.json": trace("after, and longer")})
    assert made(extract(place, "a.tar")) == 1
    assert files(place.dir / "o") == {f"{RUN}/vm.trace.json": trace("after, and longer")}


def test_names_stay_with_their_sources(place):
    """Three files that unpack to one name keep theirs, also when one has to be made again."""
    d = place.dir / "d" / RUN
    d.mkdir(parents=True)
    (d / "vm.trace.json").write_bytes(trace("plain"))
    (d / "vm.trace.json.gz").write_bytes(gzip.compress(trace("packed"), mtime=0))
    make_tar(place.dir / "d" / "runs.tar", {f"{RUN}/vm.trace.json": trace("tar")})
    with zipfile.ZipFile(place.dir / "d" / "runs.zip", "w") as z:
        z.writestr(f"{RUN}/vm.trace.json", trace("zip"))
    assert made(extract(place, "d")) == 4
    first = files(place.dir / "o")
    assert sorted(first.values()) == sorted(map(trace, ("plain", "packed", "tar", "zip")))
    for name in first:
        (place.dir / "o" / name).unlink()
        assert made(extract(place, "d")) == 1
        assert files(place.dir / "o") == first


def test_killed_at_any_moment_nothing_half_is_there(place, many):
    """SIGKILL after ever more of the work; every name that is there is a whole file, and the next
    run goes on. The pieces that were made before stay."""
    out, total, kills = place.dir / "o", 0, 0
    command = ["view_profile", "extract", "--out", "o", "many.tar"]
    for files_before_kill in range(1, 40, 4):
        process = subprocess.Popen(command, cwd=place.dir, env=place.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + WAIT
        while process.poll() is None and time.monotonic() < deadline:
            if sum(1 for _ in out.rglob("vm.trace.json")) >= files_before_kill:
                time.sleep(random.Random(files_before_kill).random() / 100)
                break
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        now = files(out)
        assert now.items() <= many.items()
        assert len(now) >= total, "what was whole stays"
        total = len(now)
    assert kills >= 3, "the machine is too fast for this test: make more files"
    done = extract(place, "many.tar")
    assert made(done) == 40 - total
    assert files(out) == many
    assert not list(out.rglob(".view_profile.tmp"))


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_ledger_that_was_cut_off_is_no_trouble(place, cut):
    make_tar(place.dir / "a.tar", {f"{RUN}/vm.trace.json": trace(),
                                   f"{RUN}/b.trace.json": trace("b")})
    extract(place, "a.tar")
    ledger = place.dir / "o/.view_profile.unpacked"
    os.truncate(ledger, max(ledger.stat().st_size - cut, len("view_profile.unpacked 1\n")))
    extract(place, "a.tar")
    assert {trace(), trace("b")} == set(files(place.dir / "o").values())
    assert made(extract(place, "a.tar")) == 0


# ---- Where it may write ----

@pytest.mark.parametrize("content", ["", "other tool\n", "view_profile.unpacked 2\n",
                                     "view_profile.unpacked 1\nx y z\n",
                                     "view_profile.unpacked 1\n1 2 3 4 a%0 b\n",
                                     "view_profile.unpacked 1\n1 2 3 4 a\n"])
def test_a_ledger_of_somebody_else(place, content):
    """An empty one may be ours, killed while it was made. Nothing else is guessed."""
    make_tar(place.dir / "a.tar", {f"{RUN}/vm.trace.json": trace()})
    (place.dir / "o").mkdir()
    (place.dir / "o/.view_profile.unpacked").write_text(content)
    done = extract(place, "a.tar", ok=(0, 3))
    assert done.returncode == (3 if content else 0)
    if content:
        assert ".view_profile.unpacked" in done.stderr
        assert (place.dir / "o/.view_profile.unpacked").read_text() == content


def test_links_and_pipes_where_it_writes_are_not_followed(place):
    make_tar(place.dir / "a.tar", {f"{RUN}/vm.trace.json": trace()})
    precious = place.dir / "precious"
    precious.write_text("mine")
    out = place.dir / "o"
    for name in (".view_profile.unpacked", ".view_profile.tmp"):
        for kind in ("link", "fifo"):
            shutil.rmtree(out, ignore_errors=True)
            extract(place, "a.tar")
            (out / name).unlink(missing_ok=True)
            os.mkfifo(out / name) if kind == "fifo" else (out / name).symlink_to(precious)
            extract(place, "a.tar", ok=(0, 3))
            assert precious.read_text() == "mine"
    shutil.rmtree(out)
    extract(place, "a.tar")
    shutil.rmtree(out / "plugins")
    (place.dir / "elsewhere").mkdir()
    (out / "plugins").symlink_to(place.dir / "elsewhere")
    done = extract(place, "a.tar", ok=(3,))
    assert "skipped" in done.stderr
    assert not list((place.dir / "elsewhere").iterdir())


def test_two_at_once_do_not_meet(place, many):
    first = subprocess.Popen(["view_profile", "extract", "--out", "o", "many.tar"], cwd=place.dir,
                             env=place.env, stdout=subprocess.DEVNULL)
    while first.poll() is None and not files(place.dir / "o"):
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        second = extract(place, "many.tar", ok=(3,))
        assert "another view_profile" in second.stderr
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert first.wait() == 0
    assert files(place.dir / "o") == many


def test_a_full_disk_leaves_whole_files_only(place, many):
    """A real one: a file system of 3 MB, in a mount namespace of our own."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("SKIP: no user namespaces here")
    small = place.dir / "small"
    small.mkdir()
    keep = place.dir / "keep"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c",
         f"mount -t tmpfs -o size=3m none {small} || exit 99\n"
         f"view_profile extract --out {small}/o many.tar\ncode=$?\n"
         f"view_profile extract --out {small}/o many.tar\n"
         f"cp -a {small}/o {keep}\nexit $code"],
        cwd=place.dir, env=place.env, capture_output=True, text=True, timeout=WAIT)
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    kept = files(keep)
    assert 0 < len(kept) < 40 and kept.items() <= many.items()
    assert not list(keep.rglob(".view_profile.tmp"))
    shutil.move(keep, place.dir / "o")
    assert made(extract(place, "many.tar")) == 40 - len(kept)
    assert files(place.dir / "o") == many


def test_progress_on_a_terminal_only(place, many):
    master, slave = pty.openpty()
    process = subprocess.Popen(["view_profile", "extract", "--out", "o", "many.tar"], stderr=slave,
                               stdout=subprocess.PIPE, cwd=place.dir, env=place.env)
    os.close(slave)
    # What is done in a moment shows no progress: it is held up between its first file and its last.
    end = time.monotonic() + WAIT
    while not any((place.dir / "o").rglob("*.json")) and time.monotonic() < end:
        time.sleep(0.001)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1)
    process.send_signal(signal.SIGCONT)
    seen = b""
    while select.select([master], [], [], WAIT)[0]:
        try:
            seen += os.read(master, 65536)
        except OSError:
            break
    assert process.wait() == 0
    assert b"extracting" in seen and b"%" in seen
    assert extract(place, "many.tar", out="p").stderr == ""


# ---- Archives that somebody else made ----

def tar_entry(name, kind=tarfile.REGTYPE, body=b"", link="", mode=0o644, mtime=1_700_000_000):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.mtime, info.size = kind, link, mode, mtime, len(body)
    return info, body


GOOD = tar_entry(f"{RUN}/good.trace.json", body=trace("good"))
BAD = trace("bad")


def tar(*entries, mode="w", **options):
    def write(path):
        with tarfile.open(path, mode, format=tarfile.GNU_FORMAT, **options) as t:
            for info, body in (*entries, GOOD):
                t.addfile(info, io.BytesIO(body))
    return write


def zipped(*entries):
    """With names as they are: the zipfile module would clean them."""
    def write(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
            for name, body in (*entries, (f"{RUN}/good.trace.json", trace("good"))):
                info = zipfile.ZipInfo("placeholder")
                info.filename = name
                z.writestr(info, body)
    return write


def encrypted(path):
    """The flag of an encrypted entry, and bytes that mean nothing."""
    zipped((f"{RUN}/locked.trace.json", BAD))(path)
    raw = bytearray(path.read_bytes())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + at] |= 1
    path.write_bytes(raw)


def lying_size(path):
    """The header of the first entry says more bytes than the archive has."""
    tar(tar_entry(f"{RUN}/liar.trace.json", body=BAD))(path)
    raw = bytearray(path.read_bytes())
    raw[124:136] = b"77777777777\0"
    raw[148:156] = b"        "
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    path.write_bytes(raw)


def negative_size(path):
    tar(tar_entry(f"{RUN}/liar.trace.json", body=BAD))(path)
    raw = bytearray(path.read_bytes())
    raw[124:136] = b"\xff" * 12  # base 256: -1
    raw[148:156] = b"        "
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    path.write_bytes(raw)


def lying_zip(path):
    """Both headers of an entry say that it unpacks to 10 bytes."""
    zipped((f"{RUN}/liar.trace.json", BAD + b" " * 100_000))(path)
    raw = bytearray(path.read_bytes())
    struct.pack_into("<I", raw, raw.index(b"PK\x03\x04") + 22, 10)
    struct.pack_into("<I", raw, raw.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(raw)


def nested(path):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as t:
        info, body = tar_entry(f"{RUN}/inner.trace.json", body=BAD)
        t.addfile(info, io.BytesIO(body))
    tar(tar_entry(f"{RUN}/inner.tar.gz", body=inner.getvalue()))(path)


def crowd(path):
    """More entries than an archive may have."""
    with open(path, "wb") as f:
        info, body = GOOD
        f.write(info.tobuf(tarfile.GNU_FORMAT) + body.ljust(512, b"\0"))
        for i in range(100_001):
            f.write(tar_entry(f"x/{i}.trace.json")[0].tobuf(tarfile.GNU_FORMAT))
        f.write(bytes(1024))


def self_link(path):
    tar(tar_entry("loop", tarfile.SYMTYPE, link="loop"),
        tar_entry("loop/vm.trace.json", body=BAD))(path)


OUTSIDE = "/tmp/vp_extract_evil"
HOSTILE = {
    "parent": tar(tar_entry("../evil.trace.json", body=BAD)),
    "parent in the middle": tar(tar_entry(f"{RUN}/../../../../evil.trace.json", body=BAD)),
    "absolute": tar(tar_entry(f"{OUTSIDE}/evil.trace.json", body=BAD)),
    "many slashes": tar(tar_entry(f"//{OUTSIDE}//evil.trace.json", body=BAD)),
    "backslashes": zipped(("a\\..\\..\\evil.trace.json", BAD)),
    "drive letter": zipped(("C:/evil.trace.json", BAD)),
    "zip parent": zipped(("../../evil.trace.json", BAD)),
    "symlink out": tar(tar_entry(f"{RUN}/evil.trace.json", tarfile.SYMTYPE, link="/etc/passwd")),
    "through a symlink": tar(tar_entry("d", tarfile.SYMTYPE, link=OUTSIDE),
                             tar_entry("d/evil.trace.json", body=BAD)),
    "through a relative symlink": tar(tar_entry("d", tarfile.SYMTYPE, link="../.."),
                                      tar_entry("d/evil.trace.json", body=BAD)),
    "symlink to itself": self_link,
    "hard link out": tar(tar_entry(f"{RUN}/evil.trace.json", tarfile.LNKTYPE, link="/etc/hostname")),
    "hard link through a symlink": tar(
        tar_entry("s", tarfile.SYMTYPE, link="/etc"),
        tar_entry(f"{RUN}/evil.trace.json", tarfile.LNKTYPE, link="s/hostname")),
    "fifo": tar(tar_entry(f"{RUN}/evil.trace.json", tarfile.FIFOTYPE)),
    "character device": tar(tar_entry(f"{RUN}/evil.trace.json", tarfile.CHRTYPE)),
    "block device": tar(tar_entry(f"{RUN}/evil.trace.json", tarfile.BLKTYPE)),
    "file and directory of one name": tar(
        tar_entry(f"{RUN}/x.trace.json", body=BAD),
        tar_entry(f"{RUN}/x.trace.json/y.trace.json", body=BAD)),
    "the same name often": tar(*[tar_entry(f"{RUN}/same.trace.json", body=trace(str(i)))
                                 for i in range(9)]),
    "control characters": tar(tar_entry(f"{RUN}/\x1b[31m\nred\r.trace.json", body=BAD)),
    "a long name": tar(tar_entry("d/" * 600 + "evil.trace.json", body=BAD)),
    "a long component": tar(tar_entry(f"{RUN}/{'x' * 300}.trace.json", body=BAD)),
    "not UTF-8": tar(tar_entry(f"{RUN}/\udcff\udcfe.trace.json", body=BAD),
                     encoding="utf-8", errors="surrogateescape"),
    "our own names": tar(tar_entry(".view_profile.unpacked", body=BAD),
                         tar_entry(".view_profile.tmp", body=BAD),
                         tar_entry(".view_profile.unpacked/vm.trace.json", body=BAD)),
    "set-user-ID": tar(tar_entry(f"{RUN}/suid.trace.json", body=BAD, mode=0o6777)),
    "absurd times": tar(tar_entry(f"{RUN}/t.trace.json", body=BAD, mtime=2 ** 40),
                        tar_entry(f"{RUN}/u.trace.json", body=BAD, mtime=-1)),
    "empty names": tar(tar_entry("a.trace.json", body=BAD), tar_entry("", body=BAD), tar_entry(".", body=BAD), tar_entry("./")),
    "encrypted": encrypted,
    "a size that lies": lying_size,
    "a negative size": negative_size,
    "a zip that lies": lying_zip,
    "an archive in it": nested,
    "too many entries": crowd,
}
# What has to be there in the end besides the good file, where it is not "anything inside".
ALONE = {"parent", "parent in the middle", "zip parent", "symlink out", "hard link out", "fifo",
         "character device", "block device", "encrypted", "backslashes"}
ZIPS = {"backslashes", "drive letter", "zip parent", "encrypted", "a zip that lies"}
# A tar whose first header lies has no second one.
NOTHING = {"a size that lies", "a negative size"}


def everything(root):
    return {str(p): (stat.S_IFMT(p.lstat().st_mode), p.lstat().st_size) for p in root.rglob("*")}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(place, name):
    """Outside of the directory nothing is made; inside, regular files for their owner only."""
    shutil.rmtree(OUTSIDE, ignore_errors=True)
    archive = place.dir / ("h.zip" if name in ZIPS else "h.tar")
    HOSTILE[name](archive)
    before = everything(place.dir.parent)
    done = extract(place, archive, ok=(0, 3, 4))
    assert not os.path.exists(OUTSIDE)
    out = place.dir / "o"
    added = set(everything(place.dir.parent)) - set(before)
    assert all(p == str(out) or p.startswith(f"{out}/") for p in added), added
    for p in out.rglob("*"):
        st = p.lstat()
        assert stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode), p
        assert stat.S_IMODE(st.st_mode) == (0o700 if p.is_dir() else 0o600), p
        assert st.st_nlink == 1 or p.is_dir()
    got = files(out) if out.exists() else {}
    if name in NOTHING:
        assert not got
    else:
        assert got.pop(f"{RUN}/good.trace.json") == trace("good")
        if name in ALONE:
            assert not got
    assert all(body.startswith(b'{"traceEvents"') for body in got.values())
    for c in done.stdout + done.stderr:
        assert c == "\n" or c.isprintable() or c == "�", repr(c)
    again = extract(place, archive, ok=(done.returncode,))
    if "Extracted" in done.stdout:
        assert made(again) == 0, "a second run makes nothing new"


def bomb_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        with z.open(f"{RUN}/bomb.trace.json", "w", force_zip64=True) as f:
            f.write(trace())
            for _ in range(1024):
                f.write(b" " * (1 << 20))


def bomb_tar_gz(path):
    with tarfile.open(path, "w:gz", compresslevel=9) as t:
        info = tarfile.TarInfo(f"{RUN}/bomb.trace.json")
        info.size = 1 << 30
        t.addfile(info, Endless(1 << 30))


def bomb_tar_zst(path):
    with subprocess.Popen(["zstd", "-q", "-19", "-o", path], stdin=subprocess.PIPE) as zstd:
        with tarfile.open(fileobj=zstd.stdin, mode="w|") as t:
            info = tarfile.TarInfo(f"{RUN}/bomb.trace.json")
            info.size = 1 << 30
            t.addfile(info, Endless(1 << 30))


class Endless:
    """A trace and then spaces."""

    def __init__(self, n):
        self.left, self.head = n, trace()

    def read(self, n):
        n = min(n, self.left)
        piece = (self.head + b" " * n)[:n]
        self.left, self.head = self.left - n, self.head[n:]
        return piece


@pytest.mark.slow
@pytest.mark.parametrize("make", [bomb_zip, bomb_tar_gz, bomb_tar_zst],
                         ids=lambda f: f.__name__)
def test_bombs_stop_at_their_limit(place, make):
    """1 GiB in 1 MB: refused above 64 MiB and 200:1, in time and memory that are no bother."""
    archive = place.dir / make.__name__.replace("_", ".")
    make(archive)
    assert archive.stat().st_size < 1 << 21
    nothing = place.dir / "one.tar"
    make_tar(nothing, {f"{RUN}/vm.trace.json": trace()})

    def run(path, out):
        return run_used(["view_profile", "extract", "--out", out, path], cwd=place.dir, env=place.env)

    idle = run(nothing, "idle")
    used = run(archive, "o")
    assert used.cpu_s < 20  # with sanitizers
    assert used.code in (3, 4), used.err
    assert used.peak - idle.peak < MEMORY
    assert sum(p.stat().st_size for p in (place.dir / "o").rglob("*") if p.is_file()) < 10_000 \
        if (place.dir / "o").exists() else True
    assert ":1" in used.err or "ratio" in used.err or "times" in used.err, used.err


def test_nothing_is_started_and_nothing_is_reached(place):
    """Unpacking starts no program and opens no socket."""
    if not shutil.which("strace"):
        pytest.skip("SKIP: no strace")
    not_emulated("strace sees what the emulator asks for")
    for i, make in enumerate(make for name, make in HOSTILE.items() if name not in ZIPS):
        if i == 8:
            break
        make(place.dir / f"{i}.tar")
        log = place.dir / "strace.log"
        subprocess.run(["strace", "-f", "-e", "trace=execve,socket,connect", "-o", log,
                        "view_profile", "extract", "--out", f"o{i}", f"{i}.tar"], cwd=place.dir,
                       env={**place.env, "ASAN_OPTIONS": "detect_leaks=0"}, timeout=WAIT,
                       capture_output=True)
        calls = [line for line in log.read_text().splitlines() if "(" in line]
        assert len([c for c in calls if "execve(" in c]) == 1
        assert not [c for c in calls if "socket(" in c or "connect(" in c]


def test_what_is_unpacked_is_what_was_packed(place):
    """Of every real archive: as many files as --list-only counts, each with the right content."""
    for archive in sorted((place.traces / "archives_made").glob("*.zip")) + \
            sorted((place.traces / "archives_made").glob("*dotslash*")):
        out = place.dir / archive.stem
        extract(place, str(archive), out=str(out))
        unpacked = {hashlib.sha256(b).hexdigest() for b in files(out).values()}
        expected = set()
        opener = zipfile.ZipFile if archive.suffix == ".zip" else tarfile.open
        with opener(archive) as a:
            if archive.suffix == ".zip":
                bodies = {n: a.read(n) for n in a.namelist()}
            else:
                bodies = {m.name: a.extractfile(m).read() for m in a.getmembers() if m.isfile()}
        for name, body in bodies.items():
            if name.endswith((".xplane.pb", ".trace.json.gz", ".trace.json")):
                body = gzip.decompress(body) if name.endswith(".gz") else body
                expected.add(hashlib.sha256(body).hexdigest())
        assert expected and unpacked == expected
