"""Where the real profiles are that the tests read, for every suite in Python.

VP_TRACES, else ../shared/traces beside the checkout, is the wide collection; where neither is there, tests/data is
read, a part of it with the same paths. The same rule stands in tests/unit/traces.h for C and in tests/browser/lib.mjs;
`python3 tests/traces.py` prints the folder."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT / 'tests' / 'data'
WIDE = pathlib.Path(os.environ.get('VP_TRACES') or ROOT.parent / 'shared' / 'traces').resolve()
TRACES = WIDE if WIDE.is_dir() else DATA
NARROW = (TRACES / 'SOURCES.tsv').is_file()  # the table of tests/data; the wide collection has CATALOG.tsv


def missing(path):
    """Why this path below TRACES is not there, or None: where only the wide collection has it. A wrong name is no
    reason: in the wide collection everything is there."""
    return f'not in tests/data: {path}' if NARROW and not (TRACES / path).exists() else None


def trace(path):
    """A path below TRACES; skips the test that asks where only the wide collection has it."""
    import pytest  # scripts/test asks for the folder before there is one

    if missing(path):
        pytest.skip(missing(path))
    return TRACES / path


def reference_script(name='reference.py'):
    """The independent second opinion: the one beside the wide collection, else the copy in tests/tools."""
    beside = WIDE.parent / 'tools' / name
    return beside if beside.is_file() else ROOT / 'tests' / 'tools' / name


if __name__ == '__main__':
    print(TRACES)
