"""Names that no compiler minds and many a tool trips over: empty, absent, of 10,000 bytes, with '#' (which
ends the name in TensorFlow's own annotations), quotes, controls and bytes that are no UTF-8. Every finished
zone is in both files and in the report, under the name that it was given."""
import gzip
import json
import pathlib
import subprocess
import sys

import pytest
from recording import WAIT, compile_c, environment, runs
from test_record_linked import build  # noqa: F401: a fixture

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from xspace_decode import Plane, fields  # noqa: E402

LONG = 10000
SOURCE = r"""#include <stdlib.h>
static char longest[10001], longest_arg[10001];
static const char *const names[] = {NULL, "", "all#reduce=1,2#", "#", "a=b,c", "quote\"back\\slash",
    "tab\tline\nbell\a", "not \xff\xfe UTF-8", "wide \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "<b>&amp;",
    "train 7", "step_num", "__proto__", longest};

int main(void)
{
    for (int i = 1; i < 9999; i += 2) { /* of two bytes each: cuts fall between them, or within */
        memcpy(longest + i, "\xc3\xa9", 2);
        memcpy(longest_arg + i, "\xc3\xa9", 2);
    }
    longest[0] = 'n';
    longest_arg[0] = 'v';
    vp_thread_name(longest);
    vp_meta_str(longest, longest);
    vp_config cfg = VP_CONFIG_INIT;
    vp_recording *r = NULL;
    vp_result result = VP_RESULT_INIT;
    cfg.dir = "profiles";
    cfg.export_now = true;
    if (vp_start(&r, &cfg) < 0)
        return 1;
    vp_device_id d = vp_device_add(VP_CAPTURE_CUSTOM, 0, longest);
    vp_track_id t = vp_track_add(d, longest);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            VP_SCOPE_DYN(vp_name(names[i]));
            VP_SCOPE_ARGS("inner", VP_STR("key#=\"", longest_arg), VP_STR("none", NULL));
            uint64_t now = vp_now();
            vp_record_span(t, vp_name(names[i]), now, now + 1000, 0, NULL, 0);
            VP_COUNTER("count#er", (int64_t)i);
        }
    {
        VP_SCOPE(NULL);
    }
    if (vp_stop(r, &result) < 0)
        return 2;
    printf("%llu %llu\n", (unsigned long long)result.zones, (unsigned long long)(result.dropped_full +
           result.dropped_depth + result.dropped_signal));
    return 0;
}
"""
GIVEN = ["(null)", "(empty)", "all#reduce=1,2#", "#", "a=b,c", 'quote"back\\slash', "tab\tline\nbell\a",
         "not \ufffd\ufffd UTF-8", "wide é€😀", "<b>&amp;", "train 7", "step_num", "__proto__", "n" + "é" * LONG]


@pytest.fixture
def run(place, build):  # noqa: F811
    done = subprocess.run([build(SOURCE)], cwd=place.dir, env=environment(place), capture_output=True,
                          text=True, timeout=WAIT)
    assert (done.returncode, done.stderr) == (0, "")
    zones, dropped = map(int, done.stdout.split())
    assert dropped == 0 and zones >= 3 * 3 * len(GIVEN) + 1
    (made,) = runs(place.dir / "profiles")
    return made


def calls(names):
    out = {}
    for n in names:
        out[n] = out.get(n, 0) + 1
    return out


def check(found):
    """Calls by name; a name that is too long is cut, between two characters or with a mark."""
    assert found.pop("inner") == 3 * len(GIVEN)
    (longest,) = [name for name in found if len(name) > 1000]
    assert set(longest.rstrip("\ufffd")) == {"n", "é"}
    assert found.pop(longest) == 3
    assert found == {**{name: 3 for name in GIVEN if len(name) < LONG}, "(null)": 4}


def test_the_json_is_json_and_has_them_all(run):
    (file,) = run.glob("*.trace.json.gz")
    text = gzip.decompress(file.read_bytes()).decode("utf-8")  # strictly
    found = [e for e in json.loads(text)["traceEvents"] if e.get("ph") == "X"]
    check(calls(e["name"] for e in found if e["pid"] == 701))
    inner = next(e for e in found if e["name"] == "inner")
    assert set(inner["args"]['key#="'].rstrip("\ufffd")) == {"v", "é"}


def test_the_xspace_is_one_and_has_them_all(run):
    (file,) = run.glob("*.xplane.pb")
    planes = [Plane(v) for field, v in fields(file.read_bytes()) if field == 1]
    (host,) = [p for p in planes if p.name == "/host:CPU"]
    (device,) = [p for p in planes if p.name.startswith("/device:")]
    zones = [e for _, name, events in host.lines if name != "_counters_" for e in events]
    check(calls(name for name, *_ in zones))
    spans = calls(name for _, _, events in device.lines for name, *_ in events)
    assert all(spans[name] == 3 for name in GIVEN if len(name) < LONG)
    args = next(stats for name, _, _, stats in zones if name == "inner")
    assert set(args['key#="'].rstrip("\ufffd")) == {"v", "é"}


def test_the_report_has_them_all(run, place, program):
    text = subprocess.run([program, "report", "--format", "json", "profiles"], cwd=place.dir,
                          capture_output=True, text=True, check=True, timeout=WAIT).stdout
    found = {}
    for op in json.loads(text)["host_ops"]:
        found[op["name"]] = found.get(op["name"], 0) + op["calls"]
    check(found)
