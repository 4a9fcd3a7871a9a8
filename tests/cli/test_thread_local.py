"""Static thread-local memory: a process has 1.6 KB of it for all that is loaded late, so libraries that
take much of it cannot be loaded into every program."""
import pathlib
import re
import subprocess

import pytest
from recording import ADAPTERS, compile_c

LIBRARIES = ["libview_profile.so", "libview_profile_capture.so"]
BYTES = 64

# Opens fillers until one finds no room, or as many as it is told to; then what it is to open.
LOADER = r"""#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int most = atoi(argv[1]), n = 0;
    char path[4096];
    for (; n < most; n++) {
        snprintf(path, sizeof path, "%s/filler%d.so", argv[2], n);
        if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
            break;
    }
    for (int i = 3; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    printf("%d\n", n);
    return 0;
}
"""
FILLER = "char *fill(void);\n__thread __attribute__((tls_model(\"initial-exec\"))) char here[%d] = {1};\nchar *fill(void) { return here; }\n"
FILLERS = 60


def thread_local_bytes(program, library):
    """0 where it has none."""
    text = subprocess.run(["readelf", "-lW", pathlib.Path(program).parent / library], check=True, capture_output=True,
                          text=True).stdout
    return sum(int(n, 16) for n in re.findall(r"^  TLS +0x\w+ +0x\w+ +0x\w+ +0x\w+ +0x(\w+)", text, re.M))


@pytest.mark.parametrize("library", LIBRARIES)
def test_it_takes_64_bytes_at_most(program, library):
    assert 8 <= thread_local_bytes(program, library) <= BYTES


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_so_does_every_adapter(program, adapter):
    assert thread_local_bytes(program, f"lib{adapter}.so") <= BYTES


def test_both_load_where_little_is_left(program, tmp_path):
    source = tmp_path / "filler.c"
    source.write_text(FILLER % BYTES)
    first = tmp_path / "filler0.so"
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-o", first, source], check=True)
    for i in range(1, FILLERS):
        (tmp_path / f"filler{i}.so").write_bytes(first.read_bytes())
    loader = tmp_path / "loader.c"
    loader.write_text(LOADER)
    app = compile_c(program, tmp_path / "loader", loader)
    ours = [pathlib.Path(program).parent / name for name in LIBRARIES]

    def load(fillers, *more):
        return subprocess.run([app, str(fillers), tmp_path, *more], capture_output=True, text=True)

    room = int(load(FILLERS).stdout)
    assert 2 < room < FILLERS, "the room for fillers was not found"
    for some in [ours, ours[::-1]]:
        done = load(room - len(ours), *some)
        assert done.returncode == 0, done.stderr
