"""scripts/check_complexity: what it refuses, on files made for it."""
import subprocess
import sys

import pytest
from traces import ROOT


def function(name, ifs):
    return f"int {name}(int a)\n{{\n" + "".join(f"    if (a == {i})\n        return {i};\n" for i in range(ifs)) + "    return a;\n}\n"


@pytest.mark.parametrize("ifs,row,said", [
    (14, None, None),
    (15, None, "f has a complexity of 16, and may have 15"),
    (15, "a.c\tf\t16\tone case a kind", None),
    (16, "a.c\tf\t16\tone case a kind", "f has a complexity of 17, and may have 16"),
    (15, "a.c\tf\t17\tone case a kind", "f has a complexity of 16 only"),
    (14, "a.c\tf\t16\tone case a kind", "f in a.c need not be let stand any more"),
    (3, "b.c\tgone\t16\tone case a kind", "gone in b.c need not be let stand any more"),
    (15, "b.c\tf\t16\tone case a kind", "f has a complexity of 16, and may have 15"),
    (15, "a.c\tf\t16\t", "a row is FILE, FUNCTION, COMPLEXITY and why"),
    (15, "a.c\tf\tmany\tone case a kind", "a row is FILE, FUNCTION, COMPLEXITY and why"),
])
def test_the_list_is_exact(tmp_path, ifs, row, said):
    """Below a folder: a row names the file alone."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.c").write_text(function("f", ifs) + function("g", 2))
    (tmp_path / "list.tsv").write_text("# why\n" + (row + "\n" if row else ""))
    done = subprocess.run([sys.executable, ROOT / "scripts" / "check_complexity", "--list", tmp_path / "list.tsv",
                           tmp_path / "deep" / "a.c"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1 if said else 0, ""), done
    assert said is None or said in done.stdout
