"""What all pytest suites share: an environment without the files of the user (hermetic.py), and, after a failure, the
command that runs the failed test alone. The markers are listed in pyproject.toml and explained in tests/README.md."""
import os
import pathlib
import shlex
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import hermetic  # noqa: E402
import report_schema  # noqa: E402

PLACE = hermetic.enter()  # before anything reads HOME or TMPDIR; None in a worker of pytest-xdist
report_schema.watch()  # what tests parse with json follows its schema


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if PLACE and not config.option.basetemp:
        config.option.basetemp = os.path.join(PLACE, "t")


def pytest_unconfigure():
    hermetic.leave(PLACE)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.sections.append(("run alone", f"scripts/test {shlex.quote(item.nodeid)}"))
