"""Archives that promise much and hold nothing: the search for the next entry ends, and so does a server that is at it."""
import gzip
import io
import json
import re
import signal
import subprocess
import tarfile
import time
import zipfile

import pytest
from serving import Serving, make_runs

GB = 1 << 30


def zip_without_directory(path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as z:
        z.writestr("plugins/profile/r/a.trace.json", '{"traceEvents":[]}')
    with open(path, "wb") as out:
        out.write(packed.getvalue()[:60])
        out.truncate(64 * GB)


def tar_with_a_hole(path):
    with tarfile.open(path, "w") as t:
        t.addfile(tarfile.TarInfo("plugins/profile/r/a.trace.json"), io.BytesIO())
    with open(path, "r+b") as out:
        out.truncate(64 * GB)


def tar_of_packed_zeros(path):
    """4 GB behind the entry, a frame of 64 MB over and over: the bound is looked at once a block of packed bytes."""
    pack = ["zstd", "-q", "-c"]
    begin = tarfile.TarInfo("plugins/profile/r/a.trace.json").tobuf()
    zeros = subprocess.run(pack, input=bytes(GB // 16), stdout=subprocess.PIPE, check=True).stdout
    path.write_bytes(subprocess.run(pack, input=begin, stdout=subprocess.PIPE, check=True).stdout + 64 * zeros)


MAKERS = [("runs.zip", zip_without_directory), ("runs.tar", tar_with_a_hole), ("runs.tar.zst", tar_of_packed_zeros)]


@pytest.mark.parametrize("name,make", MAKERS, ids=[m[0] for m in MAKERS])
def test_the_search_for_an_entry_ends(place, name, make):
    make(place.dir / name)
    done = subprocess.run(["view_profile", "list", place.dir], env=place.env, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 3, 4)
    assert re.search(rf"{name}.*: no further entry found", done.stdout + done.stderr)


def test_a_server_that_searches_ends_when_it_is_told(place):
    make_runs(place.dir, 1)
    for i in range(8):
        zip_without_directory(place.dir / f"{i}.zip")
    with Serving(place, place.dir, "--port", "0") as s:
        begin = time.monotonic()
        s.process.send_signal(signal.SIGTERM)
        s.process.wait(timeout=60)
        assert time.monotonic() - begin <= 30  # the search alone would take minutes


@pytest.mark.parametrize("name", ["t.trace.json", "t.trace.json.gz"])
def test_a_file_is_read_up_to_its_hole(place, name):
    """What `truncate -s 1T` makes of it, or a crash: the events that there are, and that the rest is missing."""
    text = b'{"traceEvents":[' + b",".join(b'{"ph":"X","name":"work","ts":%d,"dur":5,"pid":1,"tid":1}' % (10 * i) for i in range(1000))
    path = place.dir / name
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    with open(path, "r+b") as out:
        out.truncate(1 << 40)
    done = subprocess.run(["view_profile", "report", "--format", "json", path], env=place.env, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert sum(op["calls"] for op in report["ops"]) == 1000
    assert any("a hole (unwritten data) in a file of 1099511627776 bytes" in q["message"] for q in report["quality"])
