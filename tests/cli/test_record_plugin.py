"""A plugin that records and is unloaded before the recording ends: what it was called, where it stood
and what it recorded is in the profile all the same."""
from recording import compile_c, environment, events, recorder, runs, sanitizer, zones
import subprocess

PLUGIN = r"""#include <view_profile_capture.h>
void work(int n);
void work(int n)
{
    VP_SCOPE_ARGS("work of the plugin", VP_I64("times", n), VP_STR("text", "its own"));
    VP_BEGIN("a pair of the plugin");
    VP_COUNTER("a number of the plugin", n);
    VP_END();
    VP_INSTANT("a moment of the plugin");
}
"""

# What was the plugin's memory is made unreadable: who goes there ends.
PROGRAM = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <view_profile_capture.h>

int main(int argc, char **argv)
{
    vp_recording *r;
    vp_config cfg = VP_CONFIG_INIT;
    (void)argc;
    cfg.pool_bytes = 1 << 20;
    cfg.export_now = 1;
    if (vp_start(&r, &cfg) < 0)
        return 1;
    for (int round = 0; round < 3; round++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        void (*work)(int) = plugin ? (void (*)(int))(intptr_t)dlsym(plugin, "work") : NULL;
        if (!work) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        for (int i = 0; i < 10; i++)
            work(round * 10 + i);
        Dl_info info;
        dladdr((void *)(intptr_t)work, &info);
        dlclose(plugin);
        if (mmap(info.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                 -1, 0) == MAP_FAILED)
            return 3; /* it is there still */
        VP_SCOPE("after the plugin");
    }
    return vp_stop(r, NULL) < 0;
}
"""


def test_an_unloaded_plugin(place, program):
    linked = recorder(program)
    for name, source in ("plugin", PLUGIN), ("program", PROGRAM):
        (place.dir / f"{name}.c").write_text(source)
    compile_c(program, place.dir / "plugin.so", place.dir / "plugin.c", "-shared", "-fPIC", *linked)
    app = compile_c(program, place.dir / "program", place.dir / "program.c", *linked)
    options = {"ASAN_OPTIONS": "detect_leaks=0"} if sanitizer(program) else {}
    done = subprocess.run([app, place.dir / "plugin.so"], cwd=place.dir, capture_output=True, text=True,
                          env=environment(place, **options), check=False, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stderr)
    (run,) = runs(place.dir / "profiles")
    work = zones(run, "work of the plugin")
    assert sorted(z["args"]["times"] for z in work) == list(range(30))
    assert {z["args"]["text"] for z in work} == {"its own"}
    assert len(zones(run, "a pair of the plugin")) == 30
    assert len(zones(run, "after the plugin")) == 3
    said = [e["name"] for e in events(run)]
    assert said.count("a number of the plugin") == 30
    assert said.count("a moment of the plugin") == 30
