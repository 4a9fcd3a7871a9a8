"""Two timelines beside each other: the comparison's integers, the steps' exact places, each track once."""
import json
import re
import os
import urllib.parse

import pytest

from conftest import ROOT, Server

DATA = os.path.join(ROOT, 'tests/data')


@pytest.fixture(scope='module')
def runs():
    s = Server(os.path.join(DATA, 'jax_cpu'))
    yield s, {x['name']: x['id'] for x in s.sessions()}
    s.stop()


@pytest.fixture(scope='module')
def pair(runs):
    """(server, id of A, id of B, the answer)"""
    s, ids = runs
    a, b = sorted(i for name, i in ids.items() if 'three_runs' in name)[:2]
    return s, a, b, read(s, f'/api/v1/compare/{a}/{b}/timeline')


def read(server, path):
    answer = server.get(path)
    assert answer.status == 200, answer.content()
    return json.loads(answer.content())


def tracks_of(server, session):
    all_of_it = read(server, f'/api/v1/session/{session}/tracks')
    return {t['id']: t for g in all_of_it['groups'] for t in g['tracks']}


def test_figures_are_those_of_the_comparison(pair):
    s, a, b, t = pair
    c = read(s, f'/api/v1/compare/{a}/{b}')
    assert t['ops'] == c['ops'] and t['ops']
    assert (t['per_step'], t['threshold_ps']) == (c['per_step'], c['noise']['threshold_ps'])


def test_runs_are_aligned_by_the_places_of_their_steps(pair):
    s, a, b, t = pair
    for side, session in (('a', a), ('b', b)):
        steps = t[side]['steps']
        assert steps == read(s, f'/api/v1/session/{session}/marks')['steps']
        counted = [x for x in steps if not x['partial']]
        middle = read(s, f'/api/v1/session/{session}/report')['steps']['median_ps']
        nearest = min(counted, key=lambda x: abs(x['dur_ps'] - middle))
        assert steps[t[side]['median']] == nearest


def test_the_median_steps_of_the_file(pair):
    *_, t = pair
    a, b = (t[side]['steps'][t[side]['median']] for side in 'ab')
    assert (a['number'], a['start_ps'], a['dur_ps']) == (5, 9_219_695_000, 1_488_192_000)
    assert (b['number'], b['start_ps'], b['dur_ps']) == (4, 82_503_260_000, 18_728_793_000)


def test_the_window_is_that_of_the_devices(pair):
    s, a, b, t = pair
    for side, session in (('a', a), ('b', b)):
        ops = [x for x in tracks_of(s, session).values() if x['role'] == 'ops']
        first, last = min(x['from_ps'] for x in ops), max(x['to_ps'] for x in ops)
        assert t[side]['window'] == {'of': 'device', 'start_ps': first, 'dur_ps': last - first}


def test_every_track_stands_in_one_row(runs):
    s, ids = runs
    names = ['three_runs', 'multi_device', 'mnist_train', 'async_dispatch']
    some = [next(i for n, i in ids.items() if name in n) for name in names]
    for a in some:
        for b in some:
            t = read(s, f'/api/v1/compare/{a}/{b}/timeline')
            rows = [row for g in t['groups'] for row in g['tracks']]
            mine, theirs = tracks_of(s, a), tracks_of(s, b)
            assert sorted(r[0] for r in rows if r[0] is not None) == sorted(mine)
            assert sorted(r[1] for r in rows if r[1] is not None) == sorted(theirs)
            assert all(mine[x]['role'] == theirs[y]['role'] for x, y in rows if x is not None and y is not None)
            if a == b:
                assert all(x == y for x, y in rows)


def test_kinds_lead_to_the_op_of_their_events(pair):
    s, a, b, t = pair
    for side, session in (('a', a), ('b', b)):
        told = dict(t[side]['kinds'])
        ops = [x for x in tracks_of(s, session).values() if x['role'] == 'ops']
        seen = 0
        for track in ops:
            for i in range(min(track['events'], 12)):
                answer = s.get(f'/api/v1/session/{session}/event?id={track["id"]}.0.{i}')
                event = json.loads(answer.content())
                if answer.status == 200 and 'op' in event:
                    assert t['ops'][told[event['kind']]]['name'] == event['op']
                    seen += 1
        assert seen


def test_without_steps_there_is_a_window(runs):
    s, ids = runs
    one = next(i for n, i in ids.items() if 'multi_device' in n)
    t = read(s, f'/api/v1/compare/{one}/{one}/timeline')
    assert t['a']['window'] == t['b']['window'] and t['error'] is None
    assert all(op['delta_ps'] == 0 for op in t['ops'])


EVENT = '{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"a"}'


def test_a_damaged_run_leaves_the_other(tmp_path):
    (tmp_path / 'good.trace.json').write_text('{"traceEvents":[' + EVENT + ']}')
    (tmp_path / 'empty.trace.json').write_text('{"traceEvents":[]}')
    s = Server(tmp_path)
    ids = {x['name']: urllib.parse.quote(x['id'], safe='') for x in s.sessions()}
    good = next(i for n, i in ids.items() if 'good' in n)
    for bad in (i for i in ids.values() if i != good):
        t = read(s, f'/api/v1/compare/{good}/{bad}/timeline')
        assert t['a']['window']['of'] in ('trace', 'device') and t['a']['error'] is None
        assert t['ops'] == [] and (t['b']['error'] or t['error'])
        assert [row for g in t['groups'] for row in g['tracks']] == [[0, None]]
        assert s.get(f'/compare/{bad}/{good}/timeline').status == 200
    s.stop()


@pytest.mark.parametrize('what', ['none/ID', 'ID/none', 'ID/%00', '..%2f..%2f/ID', 'ID/%3Cscript%3E', 'ID/ID?host_a=none',
                                  'ID/ID?host_b=%00x'])
def test_what_is_not_there_is_404(pair, what):
    s, a, *_ = pair
    path, _, query = what.replace('ID', a).partition('?')
    for target in (f'/api/v1/compare/{path}/timeline', f'/compare/{path}/timeline'):
        answer = s.get(target + (f'?{query}' if query else ''))
        assert answer.status in (400, 404), target
        assert b'<script>' not in answer.content()


def test_the_page_and_the_way_to_it(pair):
    s, a, b, _ = pair
    page = s.get(f'/compare/{a}/{b}/timeline').content().decode()
    assert '<script type="module"' in page and '<noscript>' in page and 'style=' not in page
    compared = s.get(f'/compare/{a}/{b}').content().decode()
    assert f'/compare/{a}/{b}/timeline"' in compared and ' id="op-0"' in compared


def test_flame_graphs_lead_to_the_ops_in_their_scopes(pair):
    s, a, b, _ = pair
    address = f'/compare/{a}/{b}'
    page = s.get(address).content().decode()
    link = re.search(r'<a href="(\?group=stack)#flames">', page)
    by_stack = s.get(address + link.group(1)).content().decode()
    assert 'id="flames"' in by_stack and 'group=stack#flames' not in by_stack
    assert by_stack.count('<svg x="') > page.count('<svg x="') > 0
