"""Pages as a browser without a script gets them: orders, groups and pages of the list by its query,
and the state that tells when the list has changed."""
import gzip
import json
import os
import re
import shutil
import time

import pytest

from conftest import ROOT, Server, trace

WEB = os.path.join(ROOT, 'web')

# run: (events, seconds of its name); the catalog has the newest first.
RUNS = {'b/2026_01_03_00_00_00': 10, 'a/2026_01_01_00_00_00': 30, 'a/2026_01_02_00_00_00': 20,
        '2026_01_04_00_00_00': 40}


def add(root, name, events):
    run, _, session = name.rpartition('/')
    at = root / run / 'plugins' / 'profile' / session
    at.mkdir(parents=True)
    (at / 'vm.trace.json').write_bytes(trace(events))


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp('runs')
    for name, events in RUNS.items():
        add(root, name, events)
    s = Server(f'{root}/')
    s.root = root
    while json.loads(s.get('/api/v1/state').content())['indexing']:
        time.sleep(.02)
    s.ids = {x['name']: x['id'] for x in json.loads(s.get('/api/v1/sessions').content())['sessions']}
    yield s
    s.stop()


def names(runs, query):
    page = runs.get(f'/?{query}').content().decode()
    name_of = {i: n for n, i in runs.ids.items()}
    return [name_of[i] for i in re.findall(r'<tr data-key="([^"]+)"', page)]


NEWEST = sorted(RUNS, key=lambda n: n[-19:], reverse=True)
LARGEST = sorted(RUNS, key=RUNS.get, reverse=True)


@pytest.mark.parametrize('query, order', [
    ('', NEWEST), ('sort=time', NEWEST), ('sort=-time', NEWEST[::-1]),
    ('sort=name', sorted(RUNS)), ('sort=-name', sorted(RUNS, reverse=True)),
    ('sort=size', LARGEST), ('sort=-size', LARGEST[::-1]),
    ('sort=none', NEWEST), ('sort=-', NEWEST), ('sort=--name', NEWEST), ('sort=Name', NEWEST),
    ('q=A%2F', ['a/2026_01_02_00_00_00', 'a/2026_01_01_00_00_00']),
    ('q=01_0%20b', ['b/2026_01_03_00_00_00']), ('q=nothing', []),
    ('first=2', NEWEST[2:]), ('first=99', NEWEST), ('first=-1', NEWEST), ('first=1x', NEWEST),
    # A run stands where its first session stands.
    ('group=run', NEWEST), ('group=run&sort=-time', [
        'a/2026_01_01_00_00_00', 'a/2026_01_02_00_00_00', 'b/2026_01_03_00_00_00',
        '2026_01_04_00_00_00']),
    ('group=run&sort=size', ['2026_01_04_00_00_00', 'a/2026_01_01_00_00_00',
                             'a/2026_01_02_00_00_00', 'b/2026_01_03_00_00_00']),
])
def test_the_query_orders_the_list(runs, query, order):
    assert names(runs, query) == order


def test_figures_order_the_list_and_unknown_ones_stand_last(runs):
    for name in ['b/2026_01_03_00_00_00', 'a/2026_01_01_00_00_00']:
        assert runs.get(f'/session/{runs.ids[name]}/headline').status == 200
    # 7 of every 10 us busy but for the last op: 10 ops in 97 us, 30 in 297.
    known = ['a/2026_01_01_00_00_00', 'b/2026_01_03_00_00_00']
    assert names(runs, 'sort=busy')[:2] == known
    assert names(runs, 'sort=-busy')[:2] == known[::-1]
    for query in ['sort=busy', 'sort=-busy']:
        page = runs.get(f'/?{query}').content().decode()
        assert 'Last: 2 with unknown busy time because they are not analyzed yet.' in page


def test_links_keep_the_rest_of_the_query(runs):
    page = runs.get('/?q=2026%20_&sort=-size&group=run').content().decode()
    orders = page[page.index('class="orders"'):page.index('</nav>')]
    links = re.findall(r'<a href="([^"]+)"( aria-current="true")?>([a-z ]+)', orders)
    assert all(link.startswith('./?q=2026%20_') for link, _, _ in links)
    by_text = {text.strip(): link for link, _, text in links}
    assert by_text['size'] == './?q=2026%20_&amp;sort=size&amp;group=run'
    assert by_text['name'] == './?q=2026%20_&amp;sort=name&amp;group=run'
    assert by_text['none'] == './?q=2026%20_&amp;sort=-size'
    assert [text.strip() for _, current, text in links if current] == ['size', 'by directory']
    assert '<input type="hidden" name="sort" value="-size">' in page


def state(s):
    answer = s.get('/api/v1/state')
    assert (answer.status, answer.get('Content-Type')) == (200, 'application/json')
    return json.loads(answer.content())


def test_the_state_changes_with_the_directory_only(runs):
    before = state(runs)
    assert before == state(runs)
    assert (before['schema'], before['sessions']) == ('view_profile.state/1', 4)
    assert before['indexing'] is False
    assert f'data-state="{before["state"]}"' in runs.get('/').content().decode()
    add(runs.root, 'c/2026_01_05_00_00_00', 5)
    deadline = time.monotonic() + 60
    while state(runs)['sessions'] == 4:
        assert time.monotonic() < deadline
        time.sleep(.1)
    assert state(runs)['state'] != before['state']
    shutil.rmtree(runs.root / 'c')
    while state(runs)['sessions'] == 5:
        assert time.monotonic() < deadline
        time.sleep(.1)
    assert state(runs)['state'] == before['state']


def test_no_answer_says_where_the_directory_lies(runs):
    """Its name, yes; the path that leads there stays in the process."""
    i = next(iter(runs.ids.values()))
    for target in ['/', '/api/v1/sessions', '/api/v1/state', f'/session/{i}/', f'/session/{i}/headline', f'/perfetto/{i}',
                   f'/compare/{i}/{i}', f'/api/v1/session/{i}/report', f'/api/v1/session/{i}/findings', '/metrics',
                   '/session/nobody/', '/api/v1/session/nobody/report', '/trace/nobody/x.json', '/nowhere',
                   '/api/v1/extract']:
        text = runs.get(target).content().decode('utf-8', 'replace')
        assert str(runs.root.parent) not in text, target
    assert f'>{runs.root.name}<' in runs.get('/').content().decode()


def test_a_browser_at_an_address_that_is_none_gets_a_page(runs):
    answer = runs.get('/sessions/of/old', 'Accept: text/html,application/xhtml+xml,*/*;q=0.8')
    page = answer.content().decode()
    assert answer.status == 404 and answer.get('Content-Type').startswith('text/html')
    assert answer.get('Content-Security-Policy') and answer.get('X-Content-Type-Options') == 'nosniff'
    assert 'Page not found' in page and 'href="../../"' in page
    plain = runs.get('/sessions/of/old', 'Accept: */*')
    assert plain.status == 404 and plain.content() == b'page not found\n'
    assert runs.request('DELETE', '/nowhere', 'Accept: text/html').status == 404


def test_files_are_linked_as_they_are(runs):
    name, ident = 'a/2026_01_01_00_00_00', runs.ids['a/2026_01_01_00_00_00']
    page = runs.get(f'/session/{ident}/?tab=files').content().decode()
    (link,) = re.findall(r'<a [^>]*\bdownload\b[^>]* href="([^"]+)"', page)
    assert link == f'../../trace/{ident}/raw/vm.trace.json'
    answer = runs.get(link[5:])
    assert answer.get('Content-Disposition').startswith('attachment')
    on_disk = runs.root / 'a' / 'plugins' / 'profile' / name[2:] / 'vm.trace.json'
    assert answer.content() == on_disk.read_bytes()


def test_what_a_page_loads_is_kept_until_it_changes(runs):
    a, b = list(runs.ids.values())[:2]
    op = re.search(r'href="[^"]*(op\?[^"]+)"', runs.get(f'/session/{a}/').content().decode())[1]
    for target in ['/', f'/session/{a}/', f'/session/{a}/{op.replace("&amp;", "&")}', f'/compare/{a}/{b}',
                   f'/perfetto/{a}']:
        loaded = re.findall(r'(?:src|href)="[./]*/(static/[^"]+)"', runs.get(target).content().decode())
        assert any('.css?v=' in x for x in loaded) and any('.js?v=' in x for x in loaded), target
        for asset in set(loaded):
            answer = runs.get(f'/{asset}')
            assert answer.get('Cache-Control') == 'public, max-age=31536000, immutable', (target, asset)


@pytest.mark.parametrize('name', sorted(os.listdir(WEB)))
def test_embedded_files_are_those_of_web(runs, name):
    raw = open(os.path.join(WEB, name), 'rb').read()
    plain = runs.get(f'/static/{name}', 'Accept-Encoding: identity')
    small = runs.get(f'/static/{name}', 'Accept-Encoding: gzip')
    assert (plain.status, plain.get('Content-Encoding'), plain.content()) == (200, None, raw)
    assert (small.status, small.get('Content-Encoding')) == (200, 'gzip')
    assert gzip.decompress(small.content()) == raw


@pytest.mark.parametrize('query, status, said', [
    ('step=999', 404, 'no step 999: this run has no steps'), ('step=x', 400, 'step must be a number'),
    ('device=TPU:9', 404, 'no device matches'), ('host=nobody', 404, 'no device matches')])
def test_a_part_that_is_not_there_is_not_shown_as_the_whole(runs, query, status, said):
    ident = runs.ids['a/2026_01_01_00_00_00']
    for target in [f'/session/{ident}/', f'/session/{ident}/ops.csv', f'/api/v1/session/{ident}/report']:
        answer = runs.get(f'{target}?{query}')
        assert (answer.status, said in answer.content().decode()) == (status, True), target


def test_the_host_beside_a_device(runs):
    """`where=host`: tables of host zones, on the page, as JSON and as CSV; the other tabs stay the device's."""
    def zone(pid, tid, name, ts, dur):
        return {'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name}

    events = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:TPU:0'}},
              {'ph': 'M', 'pid': 1, 'tid': 2, 'name': 'thread_name', 'args': {'name': 'XLA Ops'}},
              {'ph': 'M', 'pid': 2, 'name': 'process_name', 'args': {'name': '/host:CPU'}},
              zone(1, 2, 'fusion.1', 0, 90), zone(2, 7, 'load', 0, 50), zone(2, 7, 'decode', 10, 30)]
    at = runs.root / 's/plugins/profile/2026_01_06_00_00_00'
    at.mkdir(parents=True)
    (at / 'vm.trace.json').write_text(json.dumps({'traceEvents': events}))
    rescan = ['Content-Type: application/json', f'Origin: http://{runs.host}', 'Content-Length: 0']
    try:
        assert runs.request('POST', '/api/v1/rescan', *rescan).status == 200
        ident = next(s['id'] for s in runs.sessions() if s['name'].startswith('s/'))

        def ops(query):
            made = json.loads(runs.get(f'/api/v1/session/{ident}/ops{query}').content())
            return made['analysis']['where'], {o['name']: o['self_ps'] // 10**6 for o in made['ops']}

        assert ops('') == ops('?where=device') == ('device', {'fusion': 90})
        assert ops('?where=host') == ('host', {'load': 20, 'decode': 30})
        assert ops('?where=host&group=scope') == ('host', {'load': 20, 'load/decode': 30})
        page = runs.get(f'/session/{ident}/?where=host&group=scope').content().decode()
        assert re.findall(r'<title>(load[^<]*): ', page) == ['load', 'load/decode'] and 'Call paths by self time' in page
        page = runs.get(f'/session/{ident}/?where=host').content().decode()
        assert 'device work is not included' in page and 'fusion' not in page and 'decode' in page
        assert "self time of the process&#39;s threads" in page or "self time of the process's threads" in page
        assert all('where=host' in link for link in re.findall(r'href="([^"]*by=total[^"]*)"', page))
        tabs = {t: q for q, t in re.findall(r'<li><a href="([^"]*)"[^>]*>([^<]*)</a>', page)}
        assert {'Summary', 'Ops', 'Devices', 'Host'} <= set(tabs) and not any("where" in q for q in tabs.values())
        plain = runs.get(f'/session/{ident}/?tab=ops').content().decode()
        link = re.search(r'href="([^"#]+where=host[^"#]*)', plain)[1].replace('&amp;', '&')
        assert runs.get(f'/session/{ident}/{link}').content().decode() == page
        rows = runs.get(f'/session/{ident}/ops.csv?where=host').content().decode()
        assert len(rows.splitlines()) == 3 and 'decode' in rows
        details = re.search(r'href="[^"]*(op\?[^"]+)"', page)[1].replace('&amp;', '&')
        answer = runs.get(f'/session/{ident}/{details}')
        assert (answer.status, 'decode' in answer.content().decode()) == (200, True)
        for target in [f'/session/{ident}/', f'/api/v1/session/{ident}/ops']:
            answer = runs.get(f'{target}?where=gpu')
            assert (answer.status, 'unknown where=gpu' in answer.content().decode()) == (400, True)
    finally:
        shutil.rmtree(runs.root / 's')
        runs.request('POST', '/api/v1/rescan', *rescan)


def test_a_step_alone(runs):
    def events(tid, line, names):
        yield {'ph': 'M', 'pid': 1, 'tid': tid, 'name': 'thread_name', 'args': {'name': line}}
        for i, name in enumerate(names):
            yield {'ph': 'X', 'pid': 1, 'tid': tid, 'ts': 1000 * i, 'dur': 900, 'name': name}

    steps = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:TPU:0'}},
             *events(1, 'Steps', '01234'), *events(2, 'XLA Ops', ['fusion.1'] * 5)]
    at = runs.root / 's/plugins/profile/2026_01_06_00_00_00'
    at.mkdir(parents=True)
    (at / 'vm.trace.json').write_text(json.dumps({'traceEvents': steps}))
    rescan = ['Content-Type: application/json', f'Origin: http://{runs.host}', 'Content-Length: 0']
    try:
        assert runs.request('POST', '/api/v1/rescan', *rescan).status == 200
        ident = next(s['id'] for s in runs.sessions() if s['name'].startswith('s/'))
        report = json.loads(runs.get(f'/api/v1/session/{ident}/report').content())
        numbers = [s['number'] for s in report['steps']['list']]
        assert 3 in numbers
        part = json.loads(runs.get(f'/api/v1/session/{ident}/report?step=3').content())
        assert [s['number'] for s in part['steps']['list']] == [3] and part['window']['step'] == 3
        assert [o['calls'] for o in part['ops']] == [1] and [o['calls'] for o in report['ops']] == [5]
        page = runs.get(f'/session/{ident}/?tab=summary&step=3').content().decode()
        assert 'step 3 (<a href="' in page and 'all steps</a>' in page
        assert 'report?step=3">this report as JSON' in page
        assert all('step=3' in link for link in re.findall(r'href="([^"]*by=total[^"]*)"', page))
        whole = runs.get(f'/session/{ident}/?tab=summary').content().decode()
        link = re.search(r'href="([^"]+step=3)"', whole)[1].replace('&amp;', '&')
        assert runs.get(f'/session/{ident}/{link}').status == 200
        rows = runs.get(f'/session/{ident}/ops.csv?step=3').content().decode().splitlines()
        assert len(rows) == 2
        ops = re.search(r'href="[^"]*(op\?[^"]+)"', runs.get(f'/session/{ident}/?step=3').content().decode())[1]
        details = runs.get(f'/session/{ident}/{ops.replace("&amp;", "&")}')
        assert 'step=3' in ops and details.status == 200 and 'step 3' in details.content().decode()
        answer = runs.get(f'/session/{ident}/?step=77')
        assert answer.status == 404 and 'no step 77 in this run' in answer.content().decode()
    finally:
        shutil.rmtree(runs.root / 's')
        runs.request('POST', '/api/v1/rescan', *rescan)
