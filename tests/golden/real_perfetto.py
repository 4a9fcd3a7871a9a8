"""Perfetto's own engine, where there is one: node, a build of its UI (PF_UI names another than build/perfetto-ui) and
the programs that drive its trace_processor."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from common import ROOT
from traces import WIDE

UI = pathlib.Path(os.environ.get('PF_UI') or ROOT / 'build/perfetto-ui')
PROGRAMS = [p for p in (ROOT / 'tests/tools/perfetto', WIDE.parent / 'tools/perfetto') if (p / 'tpq.mjs').is_file()]
needs_perfetto = pytest.mark.skipif(
    not (UI.is_dir() and PROGRAMS and shutil.which('node')),
    reason=f'no Perfetto: node, its programs (tpq.mjs) or its UI in {UI} (PF_UI names another) are not there')


def run_program(name, *args):
    """(exit status, its rows, what it said)."""
    done = subprocess.run(['node', PROGRAMS[0] / name, '--ui', UI, *args], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def checked(files, *words):
    """What the import of each file says: fatal, bad (rows of `stats`), slices, … and what the words ask of tpcheck.mjs;
    a file that is bad is no failure."""
    _, rows, said = run_program('tpcheck.mjs', *words, *files)
    assert len(rows) == len(files), said
    return rows


def queried(file, *queries):
    """The rows of all queries, one behind the other."""
    status, rows, said = run_program('tpq.mjs', '--json', file, *queries)
    assert status == 0, said
    return rows
