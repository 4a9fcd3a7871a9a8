"""scripts/check_complexity: its limit, and its message."""
import subprocess
import sys

import pytest
from traces import ROOT


def function(name, ifs):
    return f"int {name}(int a)\n{{\n" + "".join(f"    if (a == {i})\n        return {i};\n" for i in range(ifs)) + "    return a;\n}\n"


def check_complexity(*files):
    return subprocess.run([sys.executable, ROOT / "scripts" / "check_complexity", *files], capture_output=True, text=True)


@pytest.mark.parametrize("ifs,violations", [(3, 0), (24, 0), (25, 1), (40, 1)])
def test_a_function_above_the_limit_fails(tmp_path, ifs, violations):
    source = tmp_path / "a.c"
    source.write_text(function("f", ifs) + function("g", 2))
    done = check_complexity(source)
    message = f"{source}:1: f has complexity {ifs + 1}, limit 25\n" if violations else ""
    assert done.stdout == f"{message}check_complexity: 1 files, {violations} violations\n"
    assert (done.returncode, done.stderr) == (violations, "")


def test_all_files_are_checked(tmp_path):
    files = []
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text(function(name[0], 25))
        files.append(tmp_path / name)
    done = check_complexity(*files)
    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stdout.splitlines()[:-1]] == [str(f) for f in files]
