"""Where the real files and the programs under test are."""

import csv
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys
from decimal import Decimal

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from traces import NARROW, ROOT, TRACES, missing, reference_script, trace  # noqa: E402, F401


PROGRAM = os.environ.get('VIEW_PROFILE') or next(
    (str(p) for p in (ROOT / 'build' / preset / 'view_profile' for preset in ('asan', 'dev', 'release'))
     if p.exists()), 'view_profile')


def tool(name):
    """A built test program: VP_BUILD, else the newest of the presets' build folders."""
    if "VP_BUILD" in os.environ:
        return pathlib.Path(os.environ["VP_BUILD"]) / "tests" / name
    built = sorted((ROOT / "build").glob(f"*/tests/{name}"), key=lambda p: p.stat().st_mtime)
    assert built, f"{name} is not built: cmake --preset dev && cmake --build build/dev"
    return built[-1]


def by_reference(*args):
    """The command that asks the independent second opinion, without its collector of cycles (conftest.py)."""
    quick = 'import gc, runpy, sys; gc.disable(); sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name="__main__")'
    return [sys.executable, '-c', quick, str(reference_script()), *map(str, args)]


def run(*argv, stdin=None):
    """stdout and stderr of a program that must succeed."""
    done = subprocess.run([str(a) for a in argv], input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, (argv, done.returncode, done.stderr.decode("utf-8", "replace"))
    return done.stdout, done.stderr


def view_profile(*args, check=True, **kwargs):
    """Runs PROGRAM (VIEW_PROFILE, else a build) and returns the CompletedProcess, text."""
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, check=check, **kwargs)


@functools.lru_cache(maxsize=None)
def report_output(path, *options):
    """(exit code, stdout, stderr) of `report --format=json` for a path. All test processes share the output: each report is
    made once in a run of the tests."""
    argv = ['report', '--format=json', *options, str(path)]
    stored = pathlib.Path(os.environ['VP_TEST_PLACE']) / 'reports' / hashlib.sha256(json.dumps(argv).encode()).hexdigest()
    if not stored.exists():
        done = view_profile(*argv, check=False)
        stored.parent.mkdir(exist_ok=True)
        part = stored.with_name(f'{stored.name}.{os.getpid()}')
        part.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
        part.rename(stored)
    return tuple(json.loads(stored.read_text()))


@functools.lru_cache(maxsize=None)
def _report(path, options):
    """(report, None) or (None, stderr)."""
    code, out, err = report_output(path, *options)
    return (json.loads(out), None) if code == 0 else (None, err)


def report(path, *options):
    """The report of a path below TRACES (or an absolute one), parsed."""
    made, error = _report(str(trace(path)), options)
    assert made is not None, error
    return made


def report_or_none(path, *options):
    """The same for files that may be refused."""
    return _report(str(trace(path)), options)[0]


def timelines():
    """Every real file that may hold a timeline, archives and the answers of others left out."""
    return [p for p in sorted(TRACES.rglob('*'))
            if p.is_file() and p.name.endswith(('.xplane.pb', '.json', '.json.gz', '.gz'))
            and p.relative_to(TRACES).parts[0] not in ('expected', 'archives', 'archives_made')]


def least(wide, narrow):
    """How many files a walk over all of them must find: in the wide collection, and in tests/data."""
    return narrow if NARROW else wide


def needs_traces(*paths):
    """For `pytestmark`: skips where one of these is in the wide collection only."""
    why = next(filter(None, map(missing, paths)), None)
    return pytest.mark.skipif(why is not None, reason=str(why))


def table(path, **kwargs):
    """The rows of a .tsv or .csv below TRACES as dicts; empty where there is no such table."""
    path = TRACES / path
    if not path.is_file():
        return []
    with open(path, encoding='utf-8', newline='') as f:
        return list(csv.DictReader(f, delimiter='\t' if path.suffix == '.tsv' else ',', **kwargs))


def ps(text, unit='us'):
    """A decimal of a foreign table as picoseconds, rounded where it has more digits than that."""
    return int((Decimal(text) * {'us': 10**6, 'ms': 10**9}[unit]).to_integral_value())


def by_kernel(ops):
    """Rows by raw name, with one for all launches of a kernel whatever their grids; by self time, as they were."""
    rows = {}
    for o in ops:
        rows.setdefault((o['device_index'], o['class'], o['category'], o['name']), []).append(o)
    out = []
    for of in rows.values():
        calls, total = sum(o['calls'] for o in of), sum(o['total_ps'] for o in of)
        out.append({**of[0], 'launch': None, 'calls': calls, 'total_ps': total, 'self_ps': sum(o['self_ps'] for o in of),
                    'mean_ps': total / calls, 'min_ps': min(o['min_ps'] for o in of), 'max_ps': max(o['max_ps'] for o in of)})
    return sorted(out, key=lambda o: -o['self_ps'])
