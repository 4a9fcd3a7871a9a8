"""The collector of cycles takes almost half of the time in which Python parses a profile of fifty MB, because it visits
all live objects again and again. Parsed profiles have no cycles, so it runs between files of tests only.

The default run of scripts/test takes one file for each producer and test; all others are marked slow."""
import gc
import pathlib

import pytest

from common import TRACES

gc.disable()


@pytest.fixture(scope='module', autouse=True)
def collected():
    yield
    gc.collect()


def trace_of(value):
    """The path below TRACES that a parameter of a test names, or None."""
    if isinstance(value, pathlib.Path):
        return value.relative_to(TRACES) if value.is_relative_to(TRACES) else None
    if isinstance(value, str) and '/' in value and (TRACES / value).exists():
        return pathlib.Path(value)
    return None


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    """The file of a producer that stays in the default run is the one of median size."""
    groups = {}
    for item in items:
        params = item.callspec.params if hasattr(item, 'callspec') else {}
        traced = {name: path for name, value in params.items() if (path := trace_of(value))}
        if traced:
            first = next(iter(traced.values()))
            others = tuple(repr(v) for name, v in sorted(params.items()) if name not in traced)
            size = sum((TRACES / p).stat().st_size for p in traced.values() if (TRACES / p).is_file())
            groups.setdefault((item.path, item.originalname, first.parts[0], others), []).append((size, item.nodeid, item))
    for group in groups.values():
        group.sort(key=lambda one: one[:2])
        for i, (_, _, item) in enumerate(group):
            if i != len(group) // 2:
                item.add_marker(pytest.mark.slow)
