"""trace/base/text/width_table.h is what scripts/width_table writes."""
import pathlib
import re
import subprocess
import sys
import unicodedata

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_table_is_current():
    table = (ROOT / "trace/base/text/width_table.h").read_text()
    (version,) = re.findall(r"by Unicode ([\d.]+)\. Written by", table)
    if version != unicodedata.unidata_version:
        pytest.skip(f"this Python has Unicode {unicodedata.unidata_version}, the table is of {version}")
    done = subprocess.run([sys.executable, ROOT / "scripts/width_table", "-"], capture_output=True, text=True, check=True)
    assert table == done.stdout, "run scripts/width_table"
