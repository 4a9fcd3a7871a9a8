"""What the site says about one session and about two: findings, and the comparison."""
import json
import re

import pytest
from conftest import Server, trace


def test_findings_are_those_of_the_report(server, session):
    a = server.get(f'/api/v1/session/{session}/findings')
    assert (a.status, a.get('Content-Type')) == (200, 'application/json')
    alone = json.loads(a.content())
    assert alone['schema'] == 'view_profile.findings/1'
    whole = json.loads(server.get(f'/api/v1/session/{session}/report').content())
    assert alone['findings'] == whole['findings']
    assert alone['session'] == whole['session']


@pytest.mark.parametrize('target', ['/api/v1/session/none/findings', '/api/v1/compare/none/none'])
def test_unknown_ids_are_not_found_as_json(server, target):
    a = server.get(target)
    assert (a.status, a.get('Content-Type')) == (404, 'application/json')


def test_either_side_of_a_comparison_may_be_missing(server, session):
    for pair, missing in [(f'none/{session}', 'none'), (f'{session}/gone', 'gone')]:
        assert server.get(f'/api/v1/compare/{pair}').status == 404
        a = server.get(f'/compare/{pair}')
        assert a.status == 404
        assert f'<code>{missing}</code>'.encode() in a.content()


def test_the_form_leads_to_the_comparison(server):
    a = server.get('/compare?a=x&b=y%20z')
    assert (a.status, a.get('Location')) == (303, '/compare/x/y%20z')
    # What would leave the site, or the path, stays one segment of it.
    a = server.get('/compare?a=https%3A%2F%2Fevil.test&b=..%2F..%0D%0AX%3A%201')
    assert a.status in (303, 400)
    if a.status == 303:
        assert a.get('Location').startswith('/compare/https%3A%2F%2Fevil.test/')
        assert a.get('X') is None
    for query in ['', '?a=x', '?b=x', '?a=&b=']:
        a = server.get(f'/compare{query}')
        assert (a.status, a.get('Location')) == (400, None)


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    """Two runs of one program: in the newer one every op takes 7 us, in the older one 6."""
    root = tmp_path_factory.mktemp('pair')
    for name, dur in [('2026_01_01_00_00_00', 6), ('2026_01_02_00_00_00', 7)]:
        run = root / 'plugins' / 'profile' / name
        run.mkdir(parents=True)
        text = trace(1000).replace(b'"dur": 7', b'"dur": %d' % dur)
        (run / 'alpha.trace.json').write_bytes(text)
    s = Server(root)
    listed = json.loads(s.get('/api/v1/sessions').content())['sessions']
    s.newer, s.older = (x['id'] for x in listed)
    yield s
    s.stop()


FORM = '<form id="compare" class="compare" action="./compare" method="get"'


def test_two_ticks_of_the_index_lead_to_the_older_against_the_newer(pair):
    page = pair.get('/').content().decode()
    ids = re.findall(r'<input type="checkbox" form="compare" name="s" value="([^"]*)">', page)
    assert sorted(ids) == sorted([pair.older, pair.newer])
    assert f'{FORM}>' in page
    for a, b in (ids, ids[::-1]):
        answer = pair.get(f'/compare?s={a}&s={b}')
        assert answer.status == 303
        assert answer.get('Location').endswith(f'/compare/{pair.older}/{pair.newer}')


@pytest.mark.parametrize('query', ['', 's=x', 's=x&s=x', 's=x&s=y&s=z', 'a=x', 'a=x&b='])
def test_any_other_number_than_two_is_explained(pair, query):
    answer = pair.get(f'/compare?{query}')
    assert (answer.status, answer.get('Content-Type')) == (400, 'text/html; charset=utf-8')


def test_one_session_has_nothing_to_be_compared_with(server, session):
    assert f'{FORM} hidden>' in server.get('/').content().decode()


def test_a_page_shows_twenty_rows_unless_asked_for_more(pair):
    page = pair.get(f'/session/{pair.newer}/').content().decode()
    assert 'name="n" min="0" max="100000" value="20"' in page
    page = pair.get(f'/session/{pair.newer}/?group=raw&n=3').content().decode()
    assert re.findall(r'<td class="rank">(\d+)</td>', page) == ['1', '2', '3']


def test_the_headline_names_what_the_page_starts_with(pair):
    """4 of every 10 us idle in the older run. The figures of a full report only."""
    first = pair.get(f'/session/{pair.older}/headline').content().decode()
    findings = json.loads(pair.get(f'/api/v1/session/{pair.older}/findings').content())['findings']
    fired = [f for f in findings if f['status'] == 'fired']
    assert fired, findings
    then = pair.get(f'/session/{pair.older}/headline').content().decode()
    assert 'topfinding' not in first
    assert f'{fired[0]["id"]}</span> {fired[0]["title"]}</span>' in then
    assert first in then


def test_a_comparison_as_a_page_and_as_json(pair):
    """Every op of the newer run takes 7 us instead of 6, 1000 times; idle is what is left of 10."""
    a = pair.get(f'/compare/{pair.older}/{pair.newer}')
    assert (a.status, a.get('Content-Type')) == (200, 'text/html; charset=utf-8')
    page = a.content().decode()
    assert '<section id="where"' in page
    assert f'href="../../session/{pair.older}/"' in page
    answer = pair.get(f'/api/v1/compare/{pair.older}/{pair.newer}')
    assert (answer.status, answer.get('Content-Type')) == (200, 'application/json')
    there = json.loads(answer.content())
    assert there['schema'] == 'view_profile.compare/1'
    assert there['a']['session']['id'] == pair.older and there['b']['session']['id'] == pair.newer
    device, = there['devices']
    assert device['compute'] == {'a_ps': 6 * 10**9, 'b_ps': 7 * 10**9, 'delta_ps': 10**9}
    back = json.loads(pair.get(f'/api/v1/compare/{pair.newer}/{pair.older}').content())
    assert back['devices'][0]['compute']['delta_ps'] == -10**9


def test_a_session_against_itself_has_no_difference(pair):
    there = json.loads(pair.get(f'/api/v1/compare/{pair.newer}/{pair.newer}').content())
    assert there['step']['delta_ps'] == 0
    assert not [op for op in there['ops'] if op['delta_ps'] or op['new'] or op['gone']]
