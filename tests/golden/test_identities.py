"""Every real file: the full report holds every identity of identities.py, and is the same bytes when it is made again and
on one thread."""
import pytest

import identities
from common import TRACES, least, report_output, timelines, view_profile

FILES = pytest.mark.parametrize('path', timelines(), ids=lambda p: str(p.relative_to(TRACES)))


def made(path):
    """The report's text, or None if the file is refused, with a message."""
    code, out, err = report_output(path)
    if code == 0:
        return out
    assert code in (3, 4) and err.startswith('view_profile: ') and not out, (code, out, err)
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
