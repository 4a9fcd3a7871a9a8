"""Frozen behaviour: cases/NAME.sh runs in a shell; NAME.out, NAME.err and NAME.exit say what must
come out. `pytest tests/cli --bless` rewrites them; read the difference before you commit it."""
import pathlib
import re
import shutil
import subprocess

import pytest
import report_schema
from traces import trace

CASES = sorted((pathlib.Path(__file__).parent / "cases").glob("*.sh"))
assert len(CASES) >= 80, "the cases of tests/cli are missing"


def copy_what_jq_reads(place):
    """A jq for this case that copies its standard input to files, so that documents in pipes are validated."""
    copies = place.dir.parent / "documents"
    copies.mkdir()
    shim = place.dir.parent / "bin" / "jq"
    shim.write_text(f'#!/bin/sh\ntee "{copies}/$$" | {shutil.which("jq")} "$@"\n')
    shim.chmod(0o755)
    return copies


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.stem)
def test_case(case, place, request):
    for path in re.findall(r"\$TRACES/([\w./-]+)", case.read_text()):
        trace(path)
    copies = copy_what_jq_reads(place) if "jq " in case.read_text() else None
    done = subprocess.run(["bash", str(case)], cwd=place.dir, env=place.env,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    got = {
        "out": place.normal(done.stdout.decode("utf-8", "backslashreplace")),
        "err": place.normal(done.stderr.decode("utf-8", "backslashreplace")),
        "exit": f"{done.returncode}\n",
    }
    for suffix, text in got.items():
        path = case.with_suffix("." + suffix)
        if request.config.getoption("--bless"):
            path.write_text(text)
        assert text == path.read_text(), f"{path.name} differs"
    for document in copies.iterdir() if copies else ():
        report_schema.check_text(document.read_text())
