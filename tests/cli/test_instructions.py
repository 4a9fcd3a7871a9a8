"""scripts/instructions reports differences and fails only if it cannot count. A stand-in for valgrind, first on PATH,
prints one count for every job."""
import os
import subprocess
import sys

import pytest
from traces import ROOT

STAND_IN = """#!/bin/sh
case "$*" in --version) echo valgrind-9.0; exit ;; esac
[ "$LD_PRELOAD" ] && [ -z "$HOME" ] || { echo "the environment is not the fixed one" >&2; exit 3; }
echo "==1== I   refs:      $(cat "$(dirname "$0")/figure")" >&2
exit $(cat "$(dirname "$0")/rc")
"""


class Counted:
    """scripts/instructions with a table of its own."""

    def __init__(self, tmp, program):
        self.dir, self.program, self.table = tmp, program, tmp / "table.tsv"
        (tmp / "valgrind").write_text(STAND_IN)
        (tmp / "valgrind").chmod(0o755)
        self.table.write_text("# what it is\n")
        self.counts("1,000,000")

    def counts(self, figure, rc=0):
        (self.dir / "figure").write_text(figure)
        (self.dir / "rc").write_text(str(rc))

    def run(self, *options, path=None):
        env = {**os.environ, "PATH": path or f"{self.dir}:{os.environ['PATH']}"}
        done = subprocess.run([sys.executable, ROOT / "scripts" / "instructions", "--table", self.table, "--program", self.program,
                               *options], env=env, capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def counted(tmp_path, program):
    return Counted(tmp_path, program)


@pytest.mark.parametrize("figure,changed", [
    ("1,000,000", 0), ("1,019,000", 0), ("981,000", 0), ("1,021,000", 10), ("979,000", 10)])
def test_a_change_of_more_than_two_percent_is_reported(counted, figure, changed):
    assert counted.run("--update")[0] == 0
    counted.counts(figure)
    rc, lines = counted.run()
    assert rc == 0
    assert lines[-1] == f"10 jobs: {changed} changed by more than 2%, 0 without a stored count, 0 failed"
    line = next(line for line in lines if " start: " in line)
    if changed:
        moved = "+2.10%" if figure == "1,021,000" else "-2.10%"
        assert line == f"CHANGED start: {figure} ({moved} of 1,000,000)" and "scripts/instructions --update" in lines[-2]
    else:
        assert line.startswith(f"ok      start: {figure} (")


def test_other_tools_are_not_compared(counted):
    """Their rows stay, and --update adds rows for the tools of this machine."""
    counted.run("--update")
    counted.table.write_text(counted.table.read_text().replace("glibc ", "glibc 9.").replace("1000000", "5"))
    rc, lines = counted.run()
    assert (rc, lines[-1]) == (0, "10 jobs: 0 changed by more than 2%, 10 without a stored count, 0 failed")
    assert sum(line.startswith("new     ") for line in lines) == 10 and "scripts/instructions --update" in lines[-2]
    before = counted.table.read_text().splitlines()
    counted.run("--update")
    after = counted.table.read_text().splitlines()
    assert after[:11] == before and len(after) == 21
    assert counted.run()[1][-1] == "10 jobs: 0 changed by more than 2%, 0 without a stored count, 0 failed"


def test_a_job_that_fails_is_not_counted(counted):
    """The script fails, and --update writes nothing."""
    counted.run("--update")
    counted.counts("1,000,000", rc=7)
    before = counted.table.read_text()
    for options in ((), ("--update",)):
        rc, lines = counted.run(*options)
        assert rc == 1 and lines[-1].endswith(", 10 failed") and "exit code 7" in lines[1]
    assert counted.table.read_text() == before


def test_without_valgrind_it_fails(counted):
    rc, lines = counted.run(path=os.path.dirname(sys.executable))
    assert (rc, lines) == (1, ["instructions: valgrind is not installed: scripts/setup --test"])


def test_a_table_without_a_job_is_reported(counted):
    counted.run("--update")
    counted.table.write_text("".join(counted.table.read_text().splitlines(keepends=True)[:-1]))
    rc, lines = counted.run()
    assert rc == 0 and lines[0].startswith("table.tsv: not all 10 jobs have a row for gcc ")
    assert lines[-1] == "10 jobs: 0 changed by more than 2%, 1 without a stored count, 0 failed"
