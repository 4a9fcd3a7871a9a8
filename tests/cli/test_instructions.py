"""scripts/instructions: what it refuses. The counting is a stand-in's, first on PATH: it says for every job what FIGURE says."""
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


@pytest.mark.parametrize("figure,end", [
    ("1,000,000", "11 passed, 0 failed, 0 skipped"),
    ("1,019,000", "11 passed, 0 failed, 0 skipped"),
    ("981,000", "11 passed, 0 failed, 0 skipped"),
    ("1,021,000", "1 passed, 10 failed, 0 skipped"),
    ("979,000", "1 passed, 10 failed, 0 skipped"),
])
def test_two_percent_are_let_pass(counted, figure, end):
    assert counted.run("--update")[0] == 0
    counted.counts(figure)
    rc, lines = counted.run()
    assert (rc, lines[-1]) == ("10 failed" in end, end)
    if rc:
        said = next(line for line in lines if line.startswith("FAILED  start: "))
        assert "stored 1,000,000 instructions, counted " + figure in said and "scripts/instructions --update" in said
        assert ("+2.10%" if figure > "1" and len(figure) > 7 else "-2.10%") in said


def test_other_tools_are_not_compared(counted):
    """Their rows stay, and those of the tools that are here come beside them."""
    counted.run("--update")
    counted.table.write_text(counted.table.read_text().replace("glibc ", "glibc 9.").replace("1000000", "5"))
    rc, lines = counted.run()
    assert (rc, lines[-1]) == (0, "1 passed, 0 failed, 10 skipped")
    assert sum(line.startswith("SKIP    ") and "no figures in scripts/instructions.tsv for " in line for line in lines) == 10
    before = counted.table.read_text().splitlines()
    counted.run("--update")
    after = counted.table.read_text().splitlines()
    assert after[:11] == before and len(after) == 21
    assert counted.run()[1][-1] == "11 passed, 0 failed, 0 skipped"


def test_a_job_that_fails_is_no_count(counted):
    """Nor is it written down."""
    counted.run("--update")
    counted.counts("1,000,000", rc=7)
    before = counted.table.read_text()
    for options in ((), ("--update",)):
        rc, lines = counted.run(*options)
        assert rc == 1 and lines[-1] == "1 passed, 10 failed, 0 skipped" and "exit code 7" in lines[1]
    assert counted.table.read_text() == before


def test_without_valgrind_nothing_is_counted(counted):
    rc, lines = counted.run(path=os.path.dirname(sys.executable))
    assert (rc, lines[-1]) == (0, "1 passed, 0 failed, 10 skipped")
    assert lines[0] == "SKIP    start: no valgrind: scripts/setup --test"


def test_a_table_without_a_job_is_refused(counted):
    counted.run("--update")
    counted.table.write_text("".join(counted.table.read_text().splitlines(keepends=True)[:-1]))
    rc, lines = counted.run()
    assert rc == 1 and lines[0].startswith("FAILED  table.tsv: its rows are not the 10 jobs for gcc ")
