"""-o FILE: whole or not at all, and only ever a file of the user's."""
import os
import stat
import subprocess
import threading

import pytest
from serving import make_runs


@pytest.fixture
def runs(place):
    return make_runs(place.dir / "runs", 1)


def report(place, runs, out):
    done = subprocess.run(["view_profile", "report", "--format", "csv", "-o", str(out), str(runs)],
                          cwd=place.dir, env=place.env, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def wanted(place, runs):
    code, text, _ = report(place, runs, "-")
    assert code == 0 and "fusion" in text
    return text


def test_a_pipe_is_written_to_and_stays(place, runs, wanted):
    pipe, got = place.dir / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    assert report(place, runs, pipe) == (0, "", "")
    reader.join(60)
    assert got == [wanted]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIP: only root makes devices")
def test_a_device_is_written_to_and_stays(place, runs):
    """As root, the rename that makes a file appear whole would replace even /dev/null."""
    null = place.dir / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("SKIPPED: root of a user namespace makes no devices")
    assert report(place, runs, null) == (0, "", "")
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert [p.name for p in place.dir.iterdir() if p.name.endswith(".tmp")] == []


def test_standard_output_by_its_other_name(place, runs, wanted):
    assert report(place, runs, "/dev/stdout") == (0, wanted, "")


def test_a_link_to_an_open_file_without_a_name(place, runs, wanted):
    """As /dev/stdout is one where standard output is a file that was deleted."""
    link = place.dir / "output"
    link.symlink_to("/proc/self/fd/1")
    with open(place.dir / "gone", "w+") as gone:
        os.unlink(gone.name)
        subprocess.run(["view_profile", "report", "--format", "csv", "-o", str(link), str(runs)],
                       cwd=place.dir, env=place.env, stdout=gone, timeout=60, check=True)
        gone.seek(0)
        assert gone.read() == wanted
    assert link.is_symlink()


def test_a_link_that_leads_nowhere_stays(place, runs, wanted):
    link = place.dir / "link.csv"
    link.symlink_to("not_yet.csv")
    assert report(place, runs, link) == (0, "", "")
    assert link.is_symlink()
    assert (place.dir / "not_yet.csv").read_text() == wanted
    nowhere = place.dir / "nowhere.csv"
    nowhere.symlink_to("/proc/self/fd/99")
    code, out, err = report(place, runs, nowhere)
    assert code == 3 and out == "" and "nowhere.csv" in err and err.count("\n") == 1
    assert nowhere.is_symlink()


def test_a_link_stays_and_its_file_is_written(place, runs, wanted):
    (place.dir / "real").mkdir()
    (place.dir / "real" / "report.csv").write_text("old")
    (place.dir / "link.csv").symlink_to("real/report.csv")
    assert report(place, runs, place.dir / "link.csv") == (0, "", "")
    assert (place.dir / "link.csv").is_symlink()
    assert (place.dir / "real" / "report.csv").read_text() == wanted


def test_a_file_is_replaced_whole(place, runs, wanted):
    """Who has the old one open keeps it."""
    path = place.dir / "report.csv"
    path.write_text("old")
    with open(path) as old:
        assert report(place, runs, path) == (0, "", "")
        assert old.read() == "old"
    assert path.read_text() == wanted


def test_a_directory_is_refused(place, runs):
    code, out, err = report(place, runs, place.dir)
    assert code == 3 and out == "" and err.startswith("view_profile: ") and err.count("\n") == 1
