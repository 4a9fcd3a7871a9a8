#!/usr/bin/env python3
"""Tells scripts/test whether a suite has passed before with exactly the same inputs.

  reuse.py key SUITE                 prints a hash of all inputs of the suite
  reuse.py find SUITE KEY            prints "passed skipped time" of a passed run with this key; fails if there is none
  reuse.py keep SUITE KEY P S        stores the counts of a run that passed

The inputs are the files of the checkout that the suite may read, the wide collection of profiles, the Python packages,
the Debian packages, the kernel and the VP_ variables. A result is reused for a day at most. CI never reuses one."""
import hashlib
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from traces import ROOT, TRACES  # noqa: E402

STORED = ROOT / 'build' / 'test-results' / 'passed'
DAY = 86400

# Folders that a suite does not read. All other files of the checkout count as inputs.
UNREAD = {
    'golden': ('docs/', 'contrib/', 'tests/http/', 'tests/browser/', 'tests/peers/', 'tests/unit/', 'tests/fuzz/'),
    'http': ('contrib/', 'tests/browser/', 'tests/peers/', 'tests/unit/', 'tests/fuzz/'),
    'unit': ('tests/browser/', 'tests/peers/'),
    'cli': (),
}


def content(path):
    try:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError as e:
        return type(e).__name__


def output(*argv):
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b'?'


def key(suite):
    """A hash over lines; each line is one input. The build is none: it is made of the others, and tests add tools to it."""
    names = output('git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard').decode().split('\0')
    lines = [f'{name} {content(ROOT / name)}' for name in sorted(filter(None, names)) if not name.startswith(UNREAD[suite])]
    if not TRACES.is_relative_to(ROOT):
        lines += [f'{p} {p.stat().st_size} {p.stat().st_mtime_ns}' for p in sorted(TRACES.rglob('*')) if p.is_file()]
    lines += [f'{k}={v}' for k, v in sorted(os.environ.items()) if k.startswith('VP_') or k.endswith('SAN_OPTIONS')]
    lines.append(f'{os.uname().release} {os.cpu_count()}')
    lines.append(hashlib.blake2b(output('dpkg-query', '-W')).hexdigest())
    lines.append(content(ROOT / 'build' / 'venv' / 'have'))
    return hashlib.blake2b('\n'.join(lines).encode(), digest_size=16).hexdigest()


def main():
    what, suite, *rest = sys.argv[1:]
    stored = STORED / suite
    if what == 'key':
        print(key(suite))
    elif what == 'keep':
        STORED.mkdir(parents=True, exist_ok=True)
        stored.write_text(f'{rest[0]} {int(time.time())} {rest[1]} {rest[2]}\n')
    elif stored.is_file():
        known, when, passed, skipped = stored.read_text().split()
        if known == rest[0] and 0 <= time.time() - int(when) < DAY:
            print(passed, skipped, time.strftime('%Y-%m-%d_%H:%M', time.localtime(int(when))))
            return 0
        return 1
    else:
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
