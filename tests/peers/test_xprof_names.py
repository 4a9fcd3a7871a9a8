"""Names that are no UTF-8, hold TensorFlow's '#' or are of 10,000 bytes, through the installed XProf: protobuf
refuses a whole file for one such byte. The program is that of tests/cli/test_record_names.py."""
import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT, find_program

sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "golden")]
import recording  # noqa: E402
import test_record_linked  # noqa: E402
import test_record_names as given  # noqa: E402


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    place = tmp_path_factory.mktemp("names")
    app = recording.compile_linked(pathlib.Path(find_program()).resolve(), place / "names",
                                   test_record_linked.HEAD + given.SOURCE)
    env = {k: v for k, v in os.environ.items() if not k.startswith("VIEW_PROFILE")}
    subprocess.run([app], cwd=place, env=env, check=True, timeout=120, stdout=subprocess.DEVNULL)
    (made,) = place.rglob("*.xplane.pb")
    return made


def test_the_trace_viewer_shows_them_all(plane):
    from xprof.convert import raw_to_tool_data
    events = json.loads(raw_to_tool_data.xspace_to_tool_data([str(plane)], "trace_viewer", {})[0])["traceEvents"]
    shown = collections.Counter(e["name"] for e in events if e and e.get("ph") == "X")
    assert shown.pop("inner") == 3 * len(given.GIVEN)
    (longest,) = [name for name in shown if len(name) > 1000]
    assert shown.pop(longest) == 6  # three zones and three spans
    assert shown == {**{name: 6 for name in given.GIVEN if len(name) < given.LONG}, "(null)": 7}
