"""`view_profile memory` says in every format what the report has of memory: every row of a peak, with its scope and line."""
import csv
import html
import io
import json
import re

import pytest

from common import PROGRAM, TRACES, run
from test_memory_static import FILES, NAMES

SNAPSHOTS = [str(p.relative_to(TRACES)) for p in sorted(TRACES.glob('memory_snapshot/**/*.pickle'))][:3]


def memory(name, form, *more):
    return run(PROGRAM, 'memory', '--format', form, *more, TRACES / name)[0].decode()


def report_of(name):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', TRACES / name)[0])


@pytest.mark.parametrize('name', NAMES + SNAPSHOTS)
def test_json_is_the_report_s(name):
    made, whole = json.loads(memory(name, 'json')), report_of(name)
    assert made['schema'] == 'view_profile.memory/1'
    for key in ('session', 'memory', 'memory_static', 'memory_programs', 'quality'):
        assert made[key] == whole[key]


@pytest.mark.parametrize('name', NAMES + SNAPSHOTS)
def test_csv_has_every_holder_once(name):
    rows = list(csv.DictReader(io.StringIO(memory(name, 'csv'))))
    whole = report_of(name)
    plans = [(p['module'], str(p['space']), b['instruction'], str(b['bytes']), b['scope'] or '', b['source'] or '')
             for p in whole['memory_static'] for b in p['live']]
    assert [(r['name'], r['space'], r['holder'], r['bytes'], r['scope'], r['source']) for r in rows if r['of'] == 'plan'] == plans
    held = [(m['allocator'], h['name'], str(h['bytes'])) for m in (whole['memory'] or {'allocators': []})['allocators']
            for h in m['top']]
    assert [(r['name'], r['holder'], r['bytes']) for r in rows if r['of'] == 'allocator'] == held


def is_cut_of(cell, text):
    """"broadc…ion.2", "…t(f)/add" or the whole; a dash where nothing is known"""
    first, last = (cell.split('…') + [''])[:2] if '…' in cell else (cell, '')
    return text.startswith(first) and text.endswith(last) if text else cell == '-'


@pytest.mark.parametrize('name', NAMES)
def test_the_terminal_shows_the_largest_with_scope_and_line(name):
    lines = memory(name, 'text', '--top', '5', '--color', 'never').splitlines()
    shown = [p for p in report_of(name)['memory_static'] if (p['peak_bytes'] or p['reserved_bytes'] or 0) > 0]
    at = 0
    for plan in shown[:3]:
        at = lines.index(plan['module'], at + 1)
        head = next((i for i in range(at, at + 8) if lines[i].split()[-1:] and 'instruction' in lines[i]), None)
        assert (head is not None) == bool(plan['live'])
        if head is None:
            continue
        columns = [m.span() for m in re.finditer(r'\S+( \S+)*', lines[head])]
        words = [lines[head][a:b] for a, b in columns]
        for b, line in zip(plan['live'][:5], lines[head + 1:]):
            cells = re.split(r' {2,}', line.strip())
            row = dict(zip(words, cells))
            assert is_cut_of(row['instruction'], b['instruction'])
            for word, key in (('scope', 'scope'), ('line', 'source')):
                assert word not in row or is_cut_of(row[word], b[key] or ''), line
            assert 'scope' in row or not any(x['scope'] for x in plan['live'])


def points(polygon):
    return [tuple(map(int, p.split(','))) for p in polygon.split()]


@pytest.mark.parametrize('name', NAMES)
def test_areas_lie_on_each_other_and_reach_the_peak(name):
    page = memory(name, 'html')
    assert '<script' not in page
    shown = [p for p in report_of(name)['memory_static'] if (p['peak_bytes'] or p['reserved_bytes'] or 0) > 0][:8]
    drawn = [p for p in shown if len(p['sample_event']) > 1 and p['peak_bytes']
             and p['sample_event'][-1] > p['sample_event'][0]]
    pictures = re.findall(r'<svg class="areas".*?</svg>', page, re.S)
    assert len(pictures) == len(drawn)
    for plan, picture in zip(drawn, pictures):
        layers = [points(p) for p in re.findall(r'points="([^"]*)"', picture)]
        assert len(layers) == len(plan['layers'])
        n = len(plan['sample_event'])
        assert all(y == 1000 for _, y in layers[0][:n])
        for below, above in zip(layers, layers[1:]):
            assert above[:n] == below[n:][::-1]
        assert min(y for _, y in layers[-1]) == 0
        assert [html.escape(x['scope'] or 'no scope', quote=False).split('&')[0] in page for x in plan['layers']].count(False) == 0


def test_there_are_plans_to_show():
    assert any(p['live'] for f in FILES for p in report_of(f.relative_to(TRACES))['memory_static'])


def test_a_profile_without_memory_says_so(tmp_path):
    (tmp_path / 'none.trace.json').write_text('{"traceEvents":[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a"}]}')
    text = run(PROGRAM, 'memory', tmp_path / 'none.trace.json')[0].decode()
    assert 'Nothing in this profile tells of memory' in text
