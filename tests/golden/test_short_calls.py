"""Calls that are short beside the others of their table: a time that is not zero is never printed as zero."""
import json
import os
import re

import pytest
from common import view_profile

WIDE = {**os.environ, 'COLUMNS': '200'}


@pytest.fixture
def trace(tmp_path):
    """20,000 calls of 230 ns beside one of 40 ms, in five steps."""
    events, at = [], 0.0
    for step in range(5):
        begin, calls = at, []
        for _ in range(4000):
            calls.append({'ph': 'X', 'name': 'tick', 'pid': 1, 'tid': 1, 'ts': round(at, 3), 'dur': 0.23})
            at += 0.25
        calls.append({'ph': 'X', 'name': 'checkpoint', 'pid': 1, 'tid': 1, 'ts': round(at, 3), 'dur': 40000})
        at += 40001
        events += [{'ph': 'X', 'name': 'train', 'pid': 1, 'tid': 1, 'ts': round(begin, 3),
                    'dur': round(at - begin - 0.5, 3), 'args': {'step_num': step}}, *calls]
    path = tmp_path / 'a.trace.json'
    path.write_text(json.dumps({'traceEvents': events}))
    return path


def test_in_the_table(trace):
    out = view_profile('top', str(trace), env=WIDE).stdout
    (row,) = [line.split() for line in out.splitlines() if line.endswith(' tick')]
    head = next(line for line in out.splitlines() if ' calls ' in line)
    assert 'mean ms' in head
    assert row[3:7] == ['20000', '0.00023', '0.00023', '0.00023']  # calls, mean, p95, max


@pytest.mark.parametrize('unit', ['auto', 'ns', 'us', 'ms', 's'])
def test_in_every_unit(trace, unit):
    out = view_profile('top', '--unit', unit, str(trace), env=WIDE).stdout
    (row,) = [line.split() for line in out.splitlines() if line.endswith(' tick')]
    scale = {'ns': 1, 'us': 1e-3, 'ms': 1e-6, 's': 1e-9, 'auto': 1e-6}[unit]
    assert float(row[4]) == pytest.approx(230 * scale)


def test_in_the_pages(trace):
    html = view_profile('report', '--format', 'html', str(trace)).stdout
    (row,) = re.findall(r'<tr[^>]*>(?:(?!</tr>).)*>tick<.*?</tr>', html, re.S)[:1]
    cells = re.findall(r'<td[^>]*>([^<]*)</td>', row)
    assert '0.00023' in cells
    assert '0.000' not in cells
