"""`view_profile record --functions`: every function of a program that was built with
-finstrument-functions, by its name, however it is left."""
import ctypes
import gzip
import json
import os
import subprocess

import pytest
from recording import WAIT, compile_c, environment, names, runs, sanitizer, zones

SOURCE = r"""#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf home;
__attribute__((noinline)) static int leaf(int n) { return n + 1; }
__attribute__((noinline)) int exported(int n) { return leaf(n) + leaf(n); }
__attribute__((noinline)) static void jumps(void) { longjmp(home, 1); }
static void (*volatile jump)(jmp_buf, int) = longjmp;
__attribute__((noinline)) static void jumps_below(int n) { if (n) jumps_below(n - 1); else jump(home, 1); }
__attribute__((noinline)) static int after(int n) { return leaf(n); }
__attribute__((noinline)) static int deep(int n) { return n ? deep(n - 1) + leaf(n) : 0; }
static void *worker(void *arg) { exported(3); return arg; }

int main(void)
{
    volatile int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += exported(i);
    if (!setjmp(home))
        jumps();
    for (volatile int i = 0; i < 1000; i++)
        if (!setjmp(home))
            jumps_below(2);
    for (volatile int i = 0; i < 10; i++)
        if (!setjmp(home))
            jumps_below(299);
    sum += after(1);
    sum += exported(7);
    sum += deep(400);
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    printf("%d\n", sum);
    return 0;
}
"""


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("functions") / "functions.c"
    path.write_text(SOURCE)
    return path


def lost(run):
    (file,) = run.glob("*.trace.json.gz")
    return json.loads(gzip.decompress(file.read_bytes()))["otherData"].get("warnings", [])


def record(place, program, app, **more):
    options = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"} if sanitizer(program) else {}
    done = subprocess.run(["view_profile", "record", "--functions", "--", app], cwd=place.dir,
                          env=environment(place, **options, **more), capture_output=True, text=True,
                          timeout=WAIT)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    return done.stdout, run


def sources(run):
    """Of every function: where its zones say that it stands."""
    out = {}
    for z in zones(run):
        out.setdefault(z["name"], set()).add(z.get("args", {}).get("source"))
    return out


def line_of(text, what):
    return 1 + text[:text.index(what)].count("\n")


def has_libdw():
    try:
        return bool(ctypes.CDLL("libdw.so.1"))
    except OSError:
        return False


needs_libdw = pytest.mark.skipif(not has_libdw(), reason="no libdw.so.1: apt-get install libdw1")


@needs_libdw
def test_functions_have_their_places(place, program, source):
    app = compile_c(program, place.dir / "app", source, "-finstrument-functions")
    _, run = record(place, program, app)
    found = sources(run)
    for name, text in {"leaf": "static int leaf", "exported": "int exported", "after": "static int after",
                       "worker": "static void *worker", "main": "{\n    volatile int sum"}.items():
        assert found[name] == {f"{source}:{line_of(SOURCE, text)}"}, name
    done = subprocess.run(["view_profile", "report", "--format", "json", "profiles"], cwd=place.dir, env=place.env,
                          capture_output=True, text=True, check=True)
    assert f"{source}:{line_of(SOURCE, 'static int leaf')}" in done.stdout


def test_without_libdw_functions_have_their_names(place, program, source):
    """A libdw that cannot be loaded is none."""
    (place.dir / "lib").mkdir()
    (place.dir / "lib" / "libdw.so.1").write_bytes(b"no library")
    app = compile_c(program, place.dir / "app", source, "-finstrument-functions")
    _, run = record(place, program, app, LD_LIBRARY_PATH=str(place.dir / "lib"))
    found = sources(run)
    assert found["leaf"] == found["main"] == {None} and names(run)["exported"] == 7


PART = "int part(int n);\nint part(int n) { return n + %d; }\n"
WAITS = r"""#include <stdio.h>
int part(int n);
int main(void)
{
    puts("ready");
    fflush(stdout);
    getchar();
    printf("%d\n", part(1));
}
"""


@needs_libdw
@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_library_that_was_rebuilt_says_nothing(place, program, rebuilt):
    """Its lines are of another text than what is loaded. That of the program itself is known still."""
    (place.dir / "part.c").write_text(PART % 1)
    (place.dir / "waits.c").write_text(WAITS)
    (place.dir / "lib").mkdir()
    compile_c(program, place.dir / "libpart.so", place.dir / "part.c", "-shared", "-fPIC", "-finstrument-functions")
    app = compile_c(program, place.dir / "app", place.dir / "waits.c", "-finstrument-functions",
                    place.dir / "libpart.so", f"-Wl,-rpath,{place.dir}")
    options = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"} if sanitizer(program) else {}
    with subprocess.Popen(["view_profile", "record", "--functions", "--", app], cwd=place.dir, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(place, **options)) as p:
        assert p.stdout.readline() == "ready\n"
        if rebuilt:
            (place.dir / "part.c").write_text("\n" * 20 + PART % 2)
            compile_c(program, place.dir / "lib" / "libpart.so", place.dir / "part.c", "-shared", "-fPIC",
                      "-finstrument-functions")
            os.replace(place.dir / "lib" / "libpart.so", place.dir / "libpart.so")
        assert p.communicate("\n", timeout=WAIT)[0] == "2\n" and p.returncode == 0
    (run,) = runs(place.dir / "profiles")
    found = sources(run)
    assert found["part"] == ({None} if rebuilt else {f"{place.dir / 'part.c'}:2"})
    assert found["main"] == {f"{place.dir / 'waits.c'}:{line_of(WAITS, '{')}"}


def test_functions(place, program, source):
    app = compile_c(program, place.dir / "app", source, "-finstrument-functions")
    out, run = record(place, program, app)
    assert out == subprocess.run([app], capture_output=True, text=True, check=True).stdout
    n = names(run)
    # 5 + 1 + 1 calls, each of which calls leaf twice.
    assert n["exported"] == 7 and n["worker"] == 1
    assert n["after"] == 1
    # 256 calls may be open: main, deep, and of 4,000 that longjmp has left some few that a function with a
    # larger frame could not be told from.
    assert 235 <= n["deep"] <= 255
    assert "jumps" not in n and "jumps_below" not in n  # they never returned
    # deep(400) is 401 calls and 400 leaves
    too_deep = 401 + 400 - n["deep"] - (n["leaf"] - 14 - 1)
    assert lost(run) == [
        f"{too_deep} zones were dropped: they were nested too deep",
        f"{1 + 3 * 1000 + 10 * 300} zones have no end: they were left by a jump, or their thread ended"]
    main = [z for z in zones(run) if z["name"] == "main"]
    assert len(main) == 1
    inside = [z for z in zones(run, "exported") if z["tid"] == main[0]["tid"]]
    assert len(inside) == 6
    assert all(main[0]["ts"] <= z["ts"] and z["ts"] + z["dur"] <= main[0]["ts"] + main[0]["dur"] + 0.001
               for z in inside)


def test_a_stripped_program_tells_places(place, program, source):
    app = compile_c(program, place.dir / "app", source, "-finstrument-functions", "-s")
    _, run = record(place, program, app)
    assert any(name.startswith("app+0x") for name in names(run))
    assert sum(n == 7 for n in names(run).values()) == 1  # `exported`, by whatever name


CPP = r"""#include <cstdio>
namespace model {
template <typename T> struct layer {
    __attribute__((noinline)) T forward(const T &x) const { return x + 1; }
};
__attribute__((noinline)) static double loss(double a, double b) { return a - b; }
}
int main()
{
    model::layer<double> l;
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += model::loss(l.forward(i), 1);
    std::printf("%g\n", sum);
}
"""


def test_functions_of_cpp_have_their_names(place, program):
    """As their author wrote them, exported or not."""
    source = place.dir / "app.cpp"
    source.write_text(CPP)
    app = place.dir / "cpp"
    subprocess.run(["g++", "-O1", "-g", *sanitizer(program), "-finstrument-functions", source, "-o", app],
                   check=True)
    _, run = record(place, program, app)
    n = names(run)
    assert n["model::layer<double>::forward(double const&) const"] == 4
    assert n["model::loss(double, double)"] == 4
    assert not [name for name in n if name.startswith("_Z")]
