"""What a C program says by the recorder's header comes out in the report, from the XSpace and from the
recording as it was."""
import json
import pathlib
import subprocess

import pytest

from conftest import ROOT
from recording import WAIT, compile_c, environment, runs

PROGRAM = r"""
#include <view_profile_capture.h>

int main(void)
{
    vp_config config = VP_CONFIG_INIT;
    vp_recording *r;
    config.outputs = VP_OUT_XPLANE | VP_OUT_RAW;
    config.export_now = true;
    if (vp_start(&r, &config) < 0)
        return 1;
    vp_meta_str("model", "mlp");
    vp_meta_int("rank", 3);
    for (int i = 0; i < 20; i++) {
        VP_SCOPE_ARGS("load", VP_I64("bytes", 100 * i), VP_F64("loss", i / 2.0), VP_STR("path", i % 4 ? "a" : "b"));
        VP_COUNTER("queue", i);
        VP_COUNTER_F("loss", 1.0 / (i + 1));
    }
    return vp_stop(r, 0) < 0;
}
"""


@pytest.fixture
def recorded(program, place):
    libraries = pathlib.Path(program).parent
    (place.dir / "said.c").write_text(PROGRAM)
    said = compile_c(program, place.dir / "said", place.dir / "said.c", f"-I{ROOT / 'include'}", f"-L{libraries}",
                     "-lview_profile_capture", f"-Wl,-rpath,{libraries}")
    subprocess.run([said], cwd=place.dir, env=environment(place), check=True, timeout=WAIT)
    (run,) = runs(place.dir / "profiles")
    return run


@pytest.mark.parametrize("kind", ["*.xplane.pb", "*.vpcap"])
def test_what_a_program_says(place, recorded, kind):
    (file,) = recorded.glob(kind)
    alone = place.dir / "alone"
    alone.mkdir()
    file = file.rename(alone / file.name)
    done = subprocess.run(["view_profile", "report", "--format", "json", str(file)], cwd=place.dir,
                          env=environment(place), capture_output=True, text=True, check=True, timeout=WAIT)
    made = json.loads(done.stdout)
    args = {a["key"]: a for a in made["args"]}
    assert {k: (a["zone"], a["numbers"], a["min"], a["max"], a["sum"]) for k, a in args.items()} == {
        "bytes": ("load", 20, 0, 1900, 19000), "loss": ("load", 20, 0, 9.5, 95), "path": ("load", 0, None, None, None)}
    assert args["path"]["top"] == [{"text": "a", "count": 15}, {"text": "b", "count": 5}]
    counters = {c["name"]: c for c in made["counters"]}
    assert (counters["queue"]["values"], counters["queue"]["mean"], counters["queue"]["last"]) == (20, 9.5, 19)
    assert counters["loss"]["max"] == 1 and counters["loss"]["last"] == 0.05
    meta = {m["key"]: m["value"] for m in made["meta"]}
    assert meta["model"] == "mlp" and meta["rank"] == "3" and meta["recorder"].startswith("view_profile ")
