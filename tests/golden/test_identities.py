"""Every real file: the full report holds every identity of identities.py, and is the same bytes however
often and on however many threads it is made."""
import functools

import pytest

import identities
from common import TRACES, least, timelines, view_profile

FILES = pytest.mark.parametrize('path', timelines(), ids=lambda p: str(p.relative_to(TRACES)))


@functools.lru_cache(maxsize=None)
def made(path):
    """The report's text, or None where the file is refused, which must be said."""
    done = view_profile('report', '--format=json', '--jobs=2', str(path), check=False)
    if done.returncode == 0:
        return done.stdout
    assert done.returncode in (3, 4) and done.stderr.startswith('view_profile: ') and not done.stdout, done
    return None


@FILES
def test_identities(path):
    if made(path) is not None:
        identities.check(identities.strict(made(path)))


@FILES
def test_same_bytes_again(path):
    again = view_profile('report', '--format=json', '--jobs=1', str(path), check=False)
    assert again.stdout == (made(path) or '')


def test_most_files_are_read():
    assert sum(made(p) is not None for p in timelines()) >= least(171, 113)
