"""What the CLI tests share: the program, the real traces, and a clean directory to run in."""
import os
import pathlib
import re
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from emulated import find_program  # noqa: E402
from traces import ROOT, TRACES  # noqa: E402

# A shell starts background jobs with SIGINT ignored, and children inherit that. The tests send SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--bless", action="store_true",
                     help="rewrite the frozen outputs of tests/cli/cases with what the program says")


# Fixtures that build or need build/release.
RELEASE = {"build_dir", "fast_program"}


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    """The longest file comes first, so that no worker runs it alone at the end."""
    items.sort(key=lambda item: item.path.name != "test_bombs.py")
    for item in items:
        if RELEASE & set(item.fixturenames):
            item.add_marker(pytest.mark.needs_release)


@pytest.fixture(scope="session")
def program():
    return find_program()


@pytest.fixture(scope="session")
def traces():
    return TRACES


class Place:
    """A temporary directory with an environment in which output depends on nothing else."""

    def __init__(self, tmp, program, traces):
        self.dir = tmp / "work"
        self.dir.mkdir()
        bin_dir, temp = tmp / "bin", tmp / "temp"
        bin_dir.mkdir()
        temp.mkdir()
        (tmp / "run").mkdir(mode=0o700)
        (bin_dir / "view_profile").symlink_to(program)
        self.program, self.temp, self.traces = str(program), temp, traces
        self.env = {
            "PATH": f"{bin_dir}:{os.environ['PATH']}",
            "HOME": str(tmp), "TMPDIR": str(temp), "XDG_CACHE_HOME": str(tmp / "cache"),
            "XDG_RUNTIME_DIR": str(tmp / "run"),
            "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "80", "TERM": "xterm",
            "CASES": str(ROOT / "tests" / "cli" / "cases"), "ROOT": str(ROOT),
            "TRACES": str(traces),
        }

    def normal(self, text):
        """Output without the paths of this machine and this run."""
        text = text.replace(str(self.dir), "$WORK").replace(str(self.temp), "$TEMP")
        text = text.replace(str(self.traces), "$TRACES")
        return re.sub(r"view_profile_[A-Za-z0-9]{6}", "view_profile_XXXXXX", text)


@pytest.fixture
def place(tmp_path, program, traces):
    return Place(tmp_path, program, traces)
