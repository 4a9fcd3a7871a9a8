"""An op as JSON, beside its page (which test_op_graph.py and test_op_launches.py hold against the profiles themselves)
and the report."""
import html
import json
import re
import sys

import pytest

from conftest import ROOT, Server
from test_op_graph import FILES, Graph, all_bytes, hostile, plain, reference
from test_op_launches import KINETO, rows
sys.path[:0] = [f'{ROOT}/tests']
from traces import trace


def links(server, group, most):
    """(path of the session, query) of ops' pages."""
    for session in server.sessions():
        at = f'/session/{session["id"]}/'
        overview = server.get(f'{at}?tab=ops&n=500&group={group}').content().decode()
        found = dict.fromkeys(re.findall(r'href="(?:\.\./\.\.)?(?:/session/[^"]*)?op\?([^"]*)"', overview))
        yield from ((session['id'], html.unescape(q)) for q in list(found)[:most])


def check(made, page, server, ident, group):
    figures = made['figures']
    assert made['schema'] == 'view_profile.op/1' and plain(re.search('<h1[^>]*>(.*?)</h1>', page, re.S)[1]) == figures['name']
    assert sum(made['bins']['calls']) == figures['calls']
    assert [made['bins']['from_ps'], made['bins']['to_ps']] == [figures['min_ps'], figures['max_ps']]
    took = [c['dur_ps'] for c in made['calls']]
    assert took == sorted(took, reverse=True) and took[0] == figures['max_ps'] and len(took) == min(50, figures['calls'])
    shown = rows(page, 'calls')
    assert [r[-1] for r in shown] == [c['track'] for c in made['calls']]
    if len(made['names']) > 1:
        assert [r[-2] for r in shown] == [c['name'] for c in made['calls']]
    else:
        assert {c['name'] for c in made['calls']} == {made['names'][0]['name']} and {len(r) for r in shown} == {4}
    assert sum(n['self_ps'] for n in made['names']) == figures['self_ps'] or made['more_names']
    assert sum(n['calls'] for n in made['names']) == figures['calls'] or made['more_names']
    assert [(r[0], r[1]) for r in rows(page, 'launches')] == [(x['grid'] or '–', x['block'] or '–') for x in made['launches']]
    graph = made['graph']
    assert (graph is None) == ('<svg class="graph"' not in page)
    if not graph:
        return
    g = Graph(page)
    names = [n['name'] for n in graph['nodes']]
    assert names == [n.name for n in g.nodes] and names[0] == g.own.name
    assert {(names[a], names[b]) for a, b in graph['edges']} == g.edges
    assert (graph['operands_left'], graph['users_left']) == g.left
    assert [graph['text'], *graph['body']] == g.lines
    for shown, node in zip(g.nodes, graph['nodes']):
        assert bool(shown.link) == bool(node['link'] and node['step'])
        if shown.link:
            assert f"op={node['link']['op']}" in shown.link and f"on={node['link']['on']}" in shown.link
            answer = server.get(f"/api/v1/session/{ident}/op?group={group}&on={node['link']['on']}&op={node['link']['op']}")
            assert answer.status == 200


@pytest.mark.parametrize('file, group', [(FILES['tpu'], 'name'), (FILES['rocm'], 'raw'), (KINETO, 'raw'), (FILES['cpu'], 'scope')])
def test_json_is_the_page_s(file, group):
    server = Server(trace(file))
    seen = 0
    try:
        for ident, query in links(server, group, 8):
            page = server.get(f'/session/{ident}/op?{query}').content().decode()
            made = json.loads(server.get(f'/api/v1/session/{ident}/op?{query}').content())
            ops = json.loads(server.get(f'/api/v1/session/{ident}/ops?group={group}').content())['ops']
            mine = [o for o in ops if o['device_index'] == made['figures']['device_index'] and o['name'] == made['figures']['name']
                    and o['launch'] == made['figures']['launch']]
            assert mine == [made['figures']]
            check(made, page, server, ident, group)
            seen += 1
    finally:
        server.stop()
    assert seen > 1


def test_bytes_of_nodes_are_the_proto_s():
    path = trace(FILES['tpu'])
    sizes = {}
    for m in reference.modules(str(path)):
        for i in m.instrs.values():
            sizes.setdefault(i.name, set()).add(all_bytes(i.shape))
    server = Server(path)
    seen = 0
    try:
        for ident, query in links(server, 'name', 40):
            graph = json.loads(server.get(f'/api/v1/session/{ident}/op?{query}').content())['graph']
            for n in graph['nodes'] if graph else ():
                assert n['bytes'] in sizes[n['name']]
                seen += 1
    finally:
        server.stop()
    assert seen >= 10


def test_by_name_and_what_is_not_there(tmp_path):
    server = Server(hostile(tmp_path))
    try:
        ident = server.sessions()[0]['id']
        made = json.loads(server.get(f'/api/v1/session/{ident}/op?name=f').content())
        assert made['figures']['name'] == 'f' and made['graph']['body_left'] == 40
        same = server.get(f"/api/v1/session/{ident}/op?on=0&op={made['op']}").content()
        assert json.loads(same) == made
        page = server.get(f'/session/{ident}/op?name=f').content().decode()
        assert '<h1 class="code">f</h1>' in page
        for query in '', 'name=none', 'on=7&name=f', 'on=x&name=f', 'op=0123456789abcdef':
            answer = server.get(f'/api/v1/session/{ident}/op?{query}')
            assert answer.status == 404 and json.loads(answer.content())['error'], query
    finally:
        server.stop()
