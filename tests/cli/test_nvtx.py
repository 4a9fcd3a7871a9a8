"""NVTX calls compiled straight to the recorder (view_profile_nvtx_compat.h) do what the same source does
with NVIDIA's headers and the injection library; and neither way loses what a program says."""
import re
import shutil
import subprocess

import pytest
from conftest import ROOT
from recording import (WAIT, compile_c, environment, events, library, names, nvtx_headers, recorder, runs, steps,
                       zones)
from test_record import SHAPES

OURS = "#include <view_profile_nvtx_compat.h>"
THEIRS = "#include <nvtx3/nvToolsExt.h>"

FACTS = r"""
#include <stddef.h>
#include <stdio.h>
#define V(x) printf(#x " %lld\n", (long long)(x))
int main(void)
{
    V(NVTX_VERSION); V(NVTX_SUCCESS); V(NVTX_FAIL); V(NVTX_NO_PUSH_POP_TRACKING);
    V(NVTX_EVENT_ATTRIB_STRUCT_SIZE); V(NVTX_RESOURCE_ATTRIB_STRUCT_SIZE);
    V(NVTX_COLOR_UNKNOWN); V(NVTX_COLOR_ARGB);
    V(NVTX_MESSAGE_UNKNOWN); V(NVTX_MESSAGE_TYPE_ASCII); V(NVTX_MESSAGE_TYPE_UNICODE);
    V(NVTX_MESSAGE_TYPE_REGISTERED);
    V(NVTX_PAYLOAD_UNKNOWN); V(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64); V(NVTX_PAYLOAD_TYPE_INT64);
    V(NVTX_PAYLOAD_TYPE_DOUBLE); V(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32); V(NVTX_PAYLOAD_TYPE_INT32);
    V(NVTX_PAYLOAD_TYPE_FLOAT);
    V(NVTX_RESOURCE_TYPE_UNKNOWN); V(NVTX_RESOURCE_TYPE_GENERIC_POINTER);
    V(NVTX_RESOURCE_TYPE_GENERIC_HANDLE); V(NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
    V(NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX);
#define AT(f) V(offsetof(nvtxEventAttributes_t, f)); V(sizeof ((nvtxEventAttributes_t *)0)->f)
    AT(version); AT(size); AT(category); AT(colorType); AT(color); AT(payloadType); AT(reserved0);
    AT(payload); AT(messageType); AT(message);
#undef AT
#define AT(f) V(offsetof(nvtxResourceAttributes_t, f)); V(sizeof ((nvtxResourceAttributes_t *)0)->f)
    AT(version); AT(size); AT(identifierType); AT(identifier); AT(messageType); AT(message);
    V(sizeof(nvtxRangeId_t)); V((nvtxRangeId_t)-1 > 0); V(sizeof(union payload_t));
    return 0;
}
"""

# Every function of nvToolsExt.h, as C and as C++ take it.
ALL = r"""
#include <wchar.h>
static void all(nvtxDomainHandle_t d, nvtxEventAttributes_t *e, nvtxResourceAttributes_t *r)
{
    nvtxInitialize(NULL);
    nvtxDomainMarkEx(d, e); nvtxMarkEx(e); nvtxMarkA("m"); nvtxMarkW(L"m"); nvtxMark("m");
    nvtxRangeId_t a = nvtxDomainRangeStartEx(d, e), b = nvtxRangeStartEx(e);
    nvtxRangeId_t c = nvtxRangeStartA("r"), w = nvtxRangeStartW(L"r"), p = nvtxRangeStart("r");
    nvtxDomainRangeEnd(d, a); nvtxRangeEnd(b); nvtxRangeEnd(c); nvtxRangeEnd(w); nvtxRangeEnd(p);
    int depth = nvtxDomainRangePushEx(d, e) + nvtxRangePushEx(e) + nvtxRangePushA("x") +
                nvtxRangePushW(L"x") + nvtxRangePush("x") + nvtxDomainRangePop(d) + nvtxRangePop();
    nvtxResourceHandle_t h = nvtxDomainResourceCreate(d, r);
    nvtxDomainResourceDestroy(h);
    nvtxDomainNameCategoryA(d, 1, "c"); nvtxDomainNameCategoryW(d, 1, L"c");
    nvtxDomainNameCategory(d, 1, "c");
    nvtxNameCategoryA(1, "c"); nvtxNameCategoryW(1, L"c"); nvtxNameCategory(1, "c");
    nvtxNameOsThreadA(1, "t"); nvtxNameOsThreadW(1, L"t"); nvtxNameOsThread(1, "t");
    nvtxStringHandle_t s = nvtxDomainRegisterStringA(d, "s");
    s = nvtxDomainRegisterStringW(d, L"s"); s = nvtxDomainRegisterString(d, "s");
    nvtxDomainHandle_t other = nvtxDomainCreateA("d");
    other = nvtxDomainCreateW(L"d"); other = nvtxDomainCreate("d");
    nvtxDomainDestroy(other);
    e->message.registered = s;
    e->color = (uint32_t)depth;
}
int main(int argc, char **argv)
{
    nvtxEventAttributes_t e = {};
    nvtxResourceAttributes_t r = {};
    (void)argv;
    if (argc > 1000)
        all(NULL, &e, &r);
    return 0;
}
"""
LANGUAGES = [("gcc", "c", "c11"), ("gcc", "c", "gnu17"), ("clang", "c", "c11"), ("g++", "c++", "c++11"),
             ("g++", "c++", "gnu++20"), ("clang++", "c++", "c++14")]


def run(*command, **more):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, **more).stdout


def test_the_facts_are_nvidias(tmp_path):
    said = []
    for head, place in ((OURS, ROOT / "include"), (THEIRS, nvtx_headers())):
        (tmp_path / "facts.c").write_text(head + FACTS)
        run("gcc", tmp_path / "facts.c", f"-I{place}", "-ldl", "-o", tmp_path / "facts", "-Wl,--unresolved-symbols=ignore-all")
        said.append(run(tmp_path / "facts"))
    assert said[0] == said[1] and said[0].count("\n") > 50


def test_every_function_of_theirs_is_there():
    header = (nvtx_headers() / "nvtx3" / "nvToolsExt.h").read_text()
    theirs = set(re.findall(r"^NVTX_DECLSPEC\b[^;(]*?\b(nvtx\w+)\(", header, re.M))
    ours = set(re.findall(r"^VP__NVTX_INLINE\b[^;({]*?\b(nvtx\w+)\(",
                          (ROOT / "include" / "view_profile_nvtx_compat.h").read_text(), re.M))
    assert len(theirs) > 25 and theirs - ours == set()


@pytest.mark.parametrize("disabled", [[], ["-DVP_DISABLE"], ["-DNVTX_DISABLE"]], ids=["on", "vp", "nvtx"])
@pytest.mark.parametrize("compiler,language,standard", LANGUAGES)
def test_compiles(tmp_path, compiler, language, standard, disabled):
    assert shutil.which(compiler), f"{compiler} is missing: scripts/setup --test installs it"
    out = tmp_path / "all.o"
    source = OURS + "\n" + (ALL if language == "c++" else ALL.replace("= {}", "= {0}"))
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-O2", "-Wall", "-Wextra", "-Wshadow",
                           "-Wpedantic", "-Werror", "-I", ROOT / "include", *disabled, "-c", "-o", out, "-"],
                          input=source, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    needs = [line.split()[-1] for line in run("nm", "-u", out).splitlines()]
    assert any(n.startswith("vp__nvtx_") for n in needs) != bool(disabled)
    if disabled:
        assert [n for n in needs if "vp" in n or "nvtx" in n] == []


def test_not_both(tmp_path):
    for heads in ((THEIRS, OURS), ):
        done = subprocess.run(["gcc", "-x", "c", f"-I{nvtx_headers()}", f"-I{ROOT / 'include'}", "-c", "-o",
                               tmp_path / "x.o", "-"], input="\n".join(heads), text=True, capture_output=True)
        assert done.returncode and "either view_profile_nvtx_compat.h or NVIDIA" in done.stderr


# ---- The same source both ways -------------------------------------------------------------------


@pytest.fixture(params=["injected", "compiled"])
def record(request, program, place):
    """Compiles a source of NVTX calls, runs it recorded, and gives the only run."""
    def make(source, code=0):
        path = place.dir / "app.c"
        env = environment(place, VIEW_PROFILE="1", VIEW_PROFILE_DIR=str(place.dir / "out"))
        if request.param == "injected":
            path.write_text(source)
            app = compile_c(program, place.dir / "app", path, f"-I{nvtx_headers()}")
            env["NVTX_INJECTION64_PATH"] = str(library(program))
        else:
            path.write_text(source.replace(THEIRS, OURS))
            app = compile_c(program, place.dir / "app", path, *recorder(program))
        done = subprocess.run([app], env=env, cwd=place.dir, timeout=WAIT, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        (found,) = runs(place.dir / "out")
        return found
    return make


def thread_names(run):
    return {e["tid"]: e["args"]["name"] for e in events(run) if e["ph"] == "M" and e["name"] == "thread_name"}


def test_every_kind_of_range(record):
    run = record(SHAPES)
    assert names(run) == {"setup": 1, "epoch": 4, "w\u00efde \U0001F600": 4, "typed": 8, "(empty)": 2,
                          "read": 1, "across threads": 1, "never ends": 1}
    assert [z["args"]["payload"] for z in zones(run, "typed")] == [2.5] * 8
    assert {z["args"]["nvtx_category"] for z in zones(run, "typed")} == {"io", 7}  # named in one domain only
    assert thread_names(run)[zones(run, "read")[0]["tid"]] == "loader 1"
    assert steps(run) == [1, 2, 3]


SAID = THEIRS + r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t named, recorded;
static volatile uint32_t tids[3];

static void *other(void *arg)
{
    long i = (long)arg;
    char name[32];
    tids[i] = (uint32_t)syscall(SYS_gettid);
    nvtxRangePushA("before"); /* it records already when it is named */
    nvtxRangePop();
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&recorded);
    if (i == 2)
        nvtxNameOsThreadA(tids[i], "its own name");
    snprintf(name, sizeof name, "work %ld", i);
    nvtxRangePushA(name);
    memset(name, 'x', sizeof name - 1); /* the text is the caller's again */
    nvtxRangePop();
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    nvtxDomainHandle_t d = nvtxDomainCreateA("domain");
    nvtxEventAttributes_t e = {0};
    nvtxResourceAttributes_t r = {0};
    pthread_barrier_init(&named, NULL, 4);
    pthread_barrier_init(&recorded, NULL, 4);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, other, (void *)i);
    pthread_barrier_wait(&named);
    nvtxNameOsThreadA(tids[0], "loader");
    r.version = NVTX_VERSION;
    r.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
    r.identifier.ullValue = tids[1];
    r.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    r.message.registered = nvtxDomainRegisterStringW(d, L"w\u00efde thread");
    nvtxDomainResourceDestroy(nvtxDomainResourceCreate(d, &r));
    nvtxNameOsThreadW(tids[2], L"given");
    pthread_barrier_wait(&recorded);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);

    nvtxDomainNameCategoryW(d, 9, L"w\u00efde category");
    e.version = NVTX_VERSION;
    e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    e.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    e.message.unicode = L"in a category";
    e.category = 9;
    nvtxDomainRangePushEx(d, &e);
    nvtxDomainRangePop(d);
    nvtxMarkW(L"a mark");
    return 0;
}
"""


def test_what_others_and_wide_texts_say(record):
    run = record(SAID)
    threads = thread_names(run)
    assert threads[zones(run, "work 0")[0]["tid"]] == "loader"
    assert threads[zones(run, "work 1")[0]["tid"]] == "w\u00efde thread"
    assert threads[zones(run, "work 2")[0]["tid"]] == "its own name"  # the last word
    (zone,) = zones(run, "in a category")
    assert zone["args"]["nvtx_category"] == "w\u00efde category"
    assert "a mark" in {e["name"] for e in events(run)}
    assert names(run)["before"] == 3
