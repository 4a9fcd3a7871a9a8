"""What a program used. The kernel counts into a child's peak memory what its parent had before the exec, and a pytest
that has collected thousands of tests holds hundreds of megabytes: a Python without modules starts it, which has ten."""
import os
import subprocess
import sys
from typing import NamedTuple

START = """import os, sys
fd = int(sys.argv[1])
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, fd)])
_, status, use = os.wait4(child, 0)
os.write(fd, f"{os.waitstatus_to_exitcode(status)} {use.ru_utime + use.ru_stime} {use.ru_maxrss * 1024}".encode())
"""


class Used(NamedTuple):
    code: int
    err: str
    cpu_s: float
    peak: int  # bytes of resident memory


def run_used(argv, out=subprocess.DEVNULL, **options):
    """Runs argv to its end, with its standard output into the file out; options are subprocess.Popen's."""
    mine, its = os.pipe()
    try:
        done = subprocess.run([sys.executable, "-I", "-S", "-c", START, str(its), *map(str, argv)], stdout=out,
                              stderr=subprocess.PIPE, pass_fds=[its], check=True, **options)
    finally:
        os.close(its)
        with open(mine) as pipe:
            said = pipe.read().split()
    return Used(int(said[0]), done.stderr.decode(), float(said[1]), int(said[2]))
