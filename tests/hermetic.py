#!/usr/bin/env python3
"""Runs tests in an environment of their own, so that no test reads or writes the files of the user.

  hermetic.py COMMAND…    runs COMMAND and exits with its exit code

HOME, the XDG directories and TMPDIR point into a new directory, which is removed afterward (VP_KEEP=1
keeps it). All runners use this file: scripts/test, ctest (each program), tests/conftest.py (pytest) and
tests/browser/run.mjs. A runner inside another one shares the directory of the outer one.
Ports need no table: a test asks the kernel for a free one."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

PLACE = 'VP_TEST_PLACE'

# Variables that change what view_profile does, and credentials that its store clients would use.
REMOVED = ('VIEW_PROFILE_', 'AWS_', 'AZURE_', 'GOOGLE_', 'CLOUDSDK_', 'STORAGE_EMULATOR_', 'OTEL_')
REMOVED_NAMES = {'BROWSER', 'SSH_CONNECTION', 'NO_COLOR', 'CLICOLOR_FORCE'}

# Settings and caches of the tools that tests start (compiler cache, pip, npm, git, language versions). They stay
# those of the user: without them a test would download again, or miss the registry that this machine uses.
TOOLS = {
    'CCACHE_DIR': '.cache/ccache',
    'PIP_CACHE_DIR': '.cache/pip',
    'PIP_CONFIG_FILE': '.config/pip/pip.conf',
    'NPM_CONFIG_USERCONFIG': '.npmrc',
    'NPM_CONFIG_CACHE': '.npm',
    'GIT_CONFIG_GLOBAL': '.gitconfig',
    'PYENV_ROOT': '.pyenv',
    'ZIG_GLOBAL_CACHE_DIR': '.cache/zig',
    'CARGO_HOME': '.cargo',
    'RUSTUP_HOME': '.rustup',
}


def environment(place, outer):
    """The variables of `outer`, changed so that everything personal is below `place`."""
    own = {k: v for k, v in outer.items() if not k.startswith(REMOVED) and k not in REMOVED_NAMES}
    home = outer.get('HOME')
    for name, path in TOOLS.items():
        if name not in own and home and os.path.exists(os.path.join(home, path)):
            own[name] = os.path.join(home, path)
    for name, folder in (('HOME', 'home'), ('XDG_CACHE_HOME', 'cache'), ('XDG_CONFIG_HOME', 'config'), ('XDG_DATA_HOME', 'data'),
                         ('XDG_STATE_HOME', 'state'), ('XDG_RUNTIME_DIR', 'run'), ('TMPDIR', 'tmp')):
        own[name] = os.path.join(place, folder)
        os.makedirs(own[name], mode=0o700, exist_ok=True)
    os.chmod(place, 0o711)  # some tests start programs as another user, who needs a TMPDIR, too
    os.chmod(own['TMPDIR'], 0o1777)
    own[PLACE] = place
    return own


def enter():
    """Changes the environment of this process. Returns the new directory, or None inside another runner."""
    if PLACE in os.environ:
        return None
    place = tempfile.mkdtemp(prefix='vpt-')  # short: the path of a socket has at most 107 bytes
    changed = environment(place, dict(os.environ))
    os.environ.clear()
    os.environ.update(changed)
    tempfile.tempdir = None  # it was read from the TMPDIR before
    return place


def leave(place):
    """Removes what enter() made."""
    if place and os.environ.get('VP_KEEP') != '1':
        shutil.rmtree(place, ignore_errors=True)


def main():
    place = enter()
    if not place:
        os.execvp(sys.argv[1], sys.argv[1:])
    child = subprocess.Popen(sys.argv[1:])
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: child.send_signal(n))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the child, too
    try:
        code = child.wait()
    finally:
        leave(place)
    return code if code >= 0 else 128 - code


if __name__ == '__main__':
    sys.exit(main())
