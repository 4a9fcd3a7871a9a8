"""The tables in the headers of a recording's image say where its fields lie."""
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {"include/view_profile_capture_layout.h": 5, "trace/vpcap/vpcap_layout.h": 1}  # tables in each


def tables(text):
    """{struct: (size, [(offset, size, field)])} of the comment at the head."""
    found, rows = {}, None
    for line in text[:text.index("*/")].splitlines():
        if head := re.match(r" \*     (vp\w+), (\d+)", line):
            rows = []
            found[head[1]] = int(head[2]), rows
        elif row := re.match(r" \* +(\d+) +(\d+)  (\w+)", line):
            rows.append((int(row[1]), int(row[2]), row[3]))
    return found


@pytest.mark.parametrize("header", HEADERS)
def test_tables_are_the_structures(header, tmp_path):
    found = tables((ROOT / header).read_text())
    assert len(found) == HEADERS[header]
    says = [f'#include <stddef.h>\n#include "{header}"']
    for name, (size, rows) in found.items():
        says.append(f"_Static_assert(sizeof({name}) == {size}, \"{name}\");")
        end = 0
        for offset, bytes_, field in rows:
            assert offset == end, (name, field)  # no field is left out, and there is no padding
            end += bytes_
            says.append(f"_Static_assert(offsetof({name}, {field}) == {offset} && "
                        f"sizeof((({name} *)0)->{field}) == {bytes_}, \"{name}.{field}\");")
        assert end == size, name
    (tmp_path / "layout.c").write_text("\n".join(says) + "\n")
    for compiler in filter(shutil.which, ("gcc", "clang")):
        done = subprocess.run([compiler, "-std=c17", "-fsyntax-only", "-I", ROOT, tmp_path / "layout.c"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
