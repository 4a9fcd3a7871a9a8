"""Frozen behaviour: cases/NAME.sh runs in a shell; NAME.out, NAME.err and NAME.exit say what must
come out. `pytest tests/cli --bless` rewrites them; read the difference before you commit it."""
import pathlib
import re
import subprocess

import pytest
from traces import trace

CASES = sorted((pathlib.Path(__file__).parent / "cases").glob("*.sh"))
assert len(CASES) >= 80, "the cases of tests/cli are missing"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.stem)
def test_case(case, place, request):
    for path in re.findall(r"\$TRACES/([\w./-]+)", case.read_text()):
        trace(path)
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
