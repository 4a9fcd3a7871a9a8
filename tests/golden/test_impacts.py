"""What a finding promises can be had: for every finding on every profile, built or real, the time to win is
part of what the rule counts, that is part of the window it names, that is a window of the report, and what
findings claim of one device together is no more than its window."""
import functools
import json
import pathlib
import sys
import tempfile

import pytest

from common import ROOT, TRACES, least, report_or_none, timelines, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import clean, files, near, planted  # noqa: E402


def check(made, name):
    windows = {(d['host'], d['name']): d['breakdown']['window_ps'] for d in made['devices']}
    claimed = {}
    for f in made['findings']:
        impact, at = f['impact'], (name, f['id'], f['message'], f['impact'])
        if impact['time_ps'] is None:
            continue
        assert 0 <= impact['time_ps'] <= impact['gross_ps'] <= impact['window_ps'], at
        if f['evidence']['denominator'] == 'capture':
            assert impact['window_ps'] == made['window']['capture_ps'], at
            continue
        if f['evidence']['denominator'] == 'rest of the capture':  # after the first compile (F10)
            assert impact['window_ps'] <= made['window']['capture_ps'], at
            continue
        assert impact['window_ps'] in windows.values(), at
        if f['status'] == 'fired':
            assert f['where'], at
            key = f['where'][0]['host'], f['where'][0]['device']
            claimed[key] = claimed.get(key, 0) + impact['time_ps']
        others = [o for o in made['findings'] if o is not f and o['status'] == 'fired']
        if impact['time_ps'] < impact['gross_ps'] and f['status'] == 'fired':
            assert others, at
    for key, ps in claimed.items():
        assert ps <= windows.get(key, max(windows.values())), (name, key)


def found_in(path):
    return {f['id']: f for f in json.loads(view_profile('findings', '--format=json', str(path)).stdout)['findings']}


@functools.lru_cache(maxsize=None)
def built(name):
    """The written profile of a planted, clean or near case."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='vp-impacts-'))
    if name in planted.CASES:
        made = planted.CASES[name]()
        return files.write(made.scene, made.form, folder, made.cut)
    return files.write(*(clean.CASES[name]() if name in clean.CASES else near.CASES[name][1]()), folder)


@pytest.mark.parametrize('name', [*planted.CASES, *clean.CASES, *near.CASES])
def test_built(name):
    check(json.loads(view_profile('report', '--format=json', str(built(name))).stdout), name)


@pytest.mark.parametrize('name', near.CASES)
def test_below_its_limit_a_rule_is_silent(name):
    found = found_in(built(name))[near.CASES[name][0]]
    assert found['status'] in ('clear', 'explained'), found


@pytest.mark.parametrize('name', [*planted.CASES, *near.CASES])
def test_words_of_what_is_left(name):
    """The text names time of other findings exactly if they claim some of it."""
    text = ' '.join(view_profile('findings', str(built(name))).stdout.split())
    shared = [f for f in found_in(built(name)).values() if f['status'] == 'fired' and
              f['impact']['time_ps'] is not None and f['impact']['time_ps'] < f['impact']['gross_ps']]
    assert text.count('including time claimed by') == text.count('including time claimed by other findings') == len(shared)


def real():
    """Each file, and each run as a whole."""
    found = timelines()
    return found + sorted({p.parent for p in found if 'plugins/profile' in p.as_posix()})


REAL = pytest.mark.parametrize('path', real(), ids=lambda p: str(p.relative_to(TRACES)))


@REAL
def test_real(path):
    made = report_or_none(path)
    if made:
        check(made, str(path))


def test_there_are_real_ones():
    assert len(real()) >= least(200, 25)
