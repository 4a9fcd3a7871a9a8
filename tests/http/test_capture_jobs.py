"""/api/v1/capture: captures over the network that the page asks for. What is run in place of `view_profile capture` is
capture_stand_in.py; the name of the host says how it ends."""
import json
import os
import pathlib
import stat
import time

import pytest
from conftest import Server, trace

URL = '/api/v1/capture'
STAND_IN = pathlib.Path(__file__).with_name('capture_stand_in.py')


@pytest.fixture
def place(tmp_path, monkeypatch):
    run = tmp_path / 'logdir' / 'plugins' / 'profile' / '2026_01_02_03_04_05'
    run.mkdir(parents=True)
    (run / 'a.trace.json').write_bytes(trace(20))
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path


@pytest.fixture
def server(place):
    s = Server(place / 'logdir', 'capture', STAND_IN)
    s.sessions()
    yield s
    s.stop()


def post(server, body, url=URL, fields=None):
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = fields or ['Content-Type: application/json', f'Origin: http://{server.host}']
    return server.request('POST', url, *fields, f'Content-Length: {len(data)}', body=data)


def begin(server, *targets, ms=100):
    answer = post(server, {'targets': targets, 'duration_ms': ms})
    assert answer.status == 202, answer.content()
    return json.loads(answer.content())['jobs'][0]['id']


def listed(server):
    answer = server.get(URL)
    assert answer.status == 200 and answer.get('Cache-Control') == 'no-store'
    body = json.loads(answer.content())
    assert body['schema'] == 'view_profile.captures/1'
    return body


def job(server, number):
    return next(j for j in listed(server)['jobs'] if j['id'] == number)


def until(server, number, true, wait=30):
    end = time.monotonic() + wait
    while not true(found := job(server, number)):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def ended(server, number):
    return until(server, number, lambda j: j['state'] != 'running')


def error(answer):
    return json.loads(answer.content())['error']


def test_nothing_yet(server):
    assert listed(server) == {'schema': 'view_profile.captures/1', 'refused': None, 'targets': [], 'jobs': []}


def test_a_capture_becomes_a_session_of_the_list(server, place):
    number = begin(server, '127.0.0.1:901', 'host-2.example:902')
    j = until(server, number, lambda j: j['session'])
    assert (j['state'], j['bytes'], j['error'], j['run']) == ('done', 246, None, 'run_901')
    assert [t['target'] for t in j['targets']] == ['127.0.0.1:901', 'host-2.example:902']
    assert j['session'] in {s['id'] for s in server.sessions()}
    assert str(place) not in json.dumps(listed(server))


def test_progress_says_what_is_left(server):
    number = begin(server, 'a:1', ms=3000)
    j = until(server, number, lambda j: 0 < j['left_ms'] < 2900)
    assert j['state'] == 'running' and j['targets'][0]['state'] == 'profiling' and j['session'] is None
    assert post(server, {}, f'{URL}/{number}/cancel').status == 202


def test_cancelled_it_keeps_what_came(server):
    number = begin(server, 'slow:1')
    until(server, number, lambda j: j['targets'][0]['state'] == 'profiling')
    assert post(server, {}, f'{URL}/{number}/cancel').status == 202
    assert ended(server, number)['state'] == 'cancelled'
    assert until(server, number, lambda j: j['session'])['bytes'] == 123
    assert post(server, {}, f'{URL}/{number}/cancel').status == 202  # again: it stays as it is
    assert job(server, number)['state'] == 'cancelled'


def test_cancelled_it_is_even_where_all_of_it_came(server):
    number = begin(server, 'keeps:1')
    until(server, number, lambda j: j['targets'][0]['state'] == 'profiling')
    assert post(server, {}, f'{URL}/{number}/cancel').status == 202
    j = until(server, number, lambda j: j['session'])
    assert (j['state'], j['bytes'], j['error']) == ('cancelled', 123, None)
    assert listed(server)['targets'] == ['keeps:1']


@pytest.mark.parametrize('number', ['99', '0', '-1', 'x', '4294967297'])
def test_no_such_capture(server, number):
    assert post(server, {}, f'{URL}/{number}/cancel').status == 404


def test_a_failure_says_why_and_not_where(server, place):
    j = ended(server, begin(server, 'gone:1'))
    assert (j['state'], j['run'], j['session']) == ('failed', None, None)
    assert j['error'] == 'gone:1: nobody listens at /x'
    assert j['targets'][0]['error'] == 'nobody listens, /x' and j['targets'][0]['code'] == 'unreachable'
    assert listed(server)['targets'] == []


def test_one_that_is_killed_is_a_failure(server):
    j = ended(server, begin(server, 'dies:1'))
    assert j['state'] == 'failed' and '137' in j['error']


def test_odd_lines_do_no_harm(server):
    j = ended(server, begin(server, 'odd:1'))
    assert j['state'] == 'done' and len(j['targets']) == 1


def test_it_inherits_no_descriptor(server):
    said = ended(server, begin(server, 'descriptors:1'))['error']
    assert said in ('open: 0 1 2 3', 'open: 0 1 2')  # 3: the directory that it lists


BAD = ['', '[]', '{}', '{"targets": []}', '{"targets": "a:1"}', '{"targets": [1]}', '{"targets": ["a"]}',
       '{"targets": ["a:1", "a:1"]}', '{"targets": ["a:0"]}', '{"targets": ["a:65536"]}', '{"targets": ["a:1 "]}',
       '{"targets": ["-a:1"]}', '{"targets": ["--out:1"]}', '{"targets": ["a,b:1"]}', '{"targets": ["a/b:1"]}',
       '{"targets": ["a\\u0000:1"]}', '{"targets": ["http://a:1"]}', '{"targets": ["a:1;reboot"]}', '{"targets": [":1"]}',
       '{"targets": ["[]:1"]}', '{"targets": ["[::1:1"]}', '{"targets": ["a:+1"]}', '{"targets": ["a:1\\n"]}',
       '{"targets": ["é:1"]}', '{"targets": ["a:1"], "duration_ms": 0}', '{"targets": ["a:1"], "duration_ms": 60001}',
       '{"targets": ["a:1"], "duration_ms": "5"}', '{"targets": ["a:1"], "duration_ms": 1.5}',
       '{"targets": ["a:1"], "out": "/tmp"}', '{"targets": ["a:1"], "targets": ["b:1"]}',
       json.dumps({'targets': [f'a:{i + 1}' for i in range(17)]}), json.dumps({'targets': ['a' * 300 + ':1']}),
       json.dumps({'targets': [('x' * 200) + f'{i}:1' for i in range(10)]})]


@pytest.mark.parametrize('body', BAD)
def test_bodies_that_make_no_sense(server, body):
    assert post(server, body).status == 400
    assert listed(server)['jobs'] == []


@pytest.mark.parametrize('target', ['[::1]:901', '[fe80::1%eth0]:901', 'a_b-c.d:1', '127.0.0.1:65535'])
def test_targets_that_make_sense(server, target):
    assert ended(server, begin(server, target))['state'] == 'done'


def test_other_pages_cannot_ask(server):
    own, kind = f'Origin: http://{server.host}', 'Content-Type: application/json'
    number = begin(server, 'slow:1')
    for fields in ([kind, 'Origin: https://evil.example'], [own, 'Content-Type: text/plain'], [kind],
                   [kind, 'Origin: https://ui.perfetto.dev'], [kind, 'Sec-Fetch-Site: cross-site']):
        for url in (URL, f'{URL}/{number}/cancel'):
            assert post(server, {'targets': ['a:1']}, url, fields).status in (403, 415), (url, fields)
    assert [j['state'] for j in listed(server)['jobs']] == ['running']
    assert server.get(f'{URL}/{number}/cancel').status == 405


def test_one_at_a_time_of_a_target(server):
    number = begin(server, 'slow:1', 'b:2')
    answer = post(server, {'targets': ['c:3', 'b:2']})
    assert answer.status == 409 and 'being captured already' in error(answer)
    post(server, {}, f'{URL}/{number}/cancel')
    ended(server, number)
    assert ended(server, begin(server, 'b:2'))['state'] == 'done'


def test_four_at_once(server):
    for i in range(4):
        begin(server, f'slow:{i + 1}')
    answer = post(server, {'targets': ['slow:5']})
    assert answer.status == 429 and '4 captures' in error(answer)


def test_twenty_a_minute_and_sixteen_are_told_of(server):
    for _ in range(20):
        ended(server, begin(server, 'gone:1'))
    answer = post(server, {'targets': ['gone:1']})
    assert answer.status == 429 and 'within a minute' in error(answer)
    assert [j['id'] for j in listed(server)['jobs']] == [str(20 - i) for i in range(16)]


def test_targets_that_answered_are_remembered(server, place):
    file = place / 'cache' / 'view_profile' / 'targets'
    for targets in (['a:1'], ['b:2', 'c:3'], ['gone:1'], ['a:1']):
        ended(server, begin(server, *targets))
    assert listed(server)['targets'] == ['a:1', 'b:2,c:3']
    assert file.read_text() == 'a:1\nb:2,c:3\n' and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ['targets']


@pytest.mark.parametrize('text,kept', [
    ('a:1\nb:2,c:3\n', ['a:1', 'b:2,c:3']), ('a:1', ['a:1']), ('', []), ('\n\n', []),
    ('--out\na:1\n<b>:1\na:99999\nb:1 # x\na:1\n', ['a:1']), ('x' * 100_000, []),
    (''.join(f'h:{i + 1}\n' for i in range(500)), [f'h:{i + 1}' for i in range(16)])])
def test_only_well_formed_lines_are_taken_over(place, text, kept):
    file = place / 'cache' / 'view_profile' / 'targets'
    file.parent.mkdir(parents=True)
    file.write_text(text)
    s = Server(place / 'logdir', 'capture', STAND_IN)
    try:
        assert listed(s)['targets'] == kept
    finally:
        s.stop()


def test_the_end_of_the_server_keeps_what_came(place):
    s = Server(place / 'logdir', 'capture', STAND_IN)
    number = begin(s, 'slow:7')
    until(s, number, lambda j: j['targets'][0]['state'] == 'profiling')
    s.stop()
    assert (place / 'logdir' / 'plugins' / 'profile' / 'run_7' / 'slow_7.trace.json').exists()


@pytest.mark.waits
def test_who_does_not_end_is_made_to(place):
    s = Server(place / 'logdir', 'capture', STAND_IN)
    number = begin(s, 'deaf:7')
    until(s, number, lambda j: j['targets'][0]['state'] == 'profiling')
    post(s, {}, f'{URL}/{number}/cancel')
    assert ended(s, number)['state'] == 'cancelled'
    s.stop()


def test_nothing_is_captured_beside_a_file(place):
    file = place / 'logdir' / 'plugins' / 'profile' / '2026_01_02_03_04_05' / 'a.trace.json'
    s = Server(file, 'capture', STAND_IN)
    try:
        assert 'a file' in listed(s)['refused']
        answer = post(s, {'targets': ['a:1']})
        assert answer.status == 403 and 'a file' in error(answer)
        page = s.get('/').content().decode()
        assert 'Not available: captures need a directory, and the server reads a file' in page and '<form id="capture"' not in page
    finally:
        s.stop()


def test_a_server_that_does_not_capture(place):
    s = Server(place / 'logdir')
    try:
        assert listed(s)['refused'] and post(s, {'targets': ['a:1']}).status == 403
    finally:
        s.stop()


def test_the_form_is_on_the_page(server):
    page = server.get('/').content().decode()
    assert '<form id="capture"' in page and '<noscript><p>Capturing from this page needs JavaScript' in page


# ---- Watched targets ----

def watch_state(place, pid=None, updated_unix_ms=1795242842000, **more):
    figures = [{'run': 'r', 'unix_ms': 1, 'steps': 3, 'median_ps': ps, 'p90_ps': ps, 'verdict': v}
               for ps, v in ((15_200_000_000, 'baseline'), (15_100_000_000, 'noise'), (18_700_000_000, 'regression'))]
    figures[-1]['run'] = '2026_01_02_03_04_05'
    target = {'target': 'job<1>:9012', 'name': 'n', 'listed': True, 'state': 'slower', 'error': None,
              'words': 'median step & <scope>', 'figures': figures, **more}
    state = {'schema': 'view_profile.watch/1', 'pid': pid, 'updated_unix_ms': updated_unix_ms, 'every_ms': 600000,
             'targets': [target]}
    (place / 'logdir' / '.view_profile-watch.json').write_text(json.dumps(state))


def state(server):
    return json.loads(server.get('/api/v1/state').content())['state']


def test_watched_targets_stand_on_the_page(server, place):
    before = state(server)
    assert 'Watched programs' not in server.get('/').content().decode()
    watch_state(place)
    assert state(server) != before
    page = server.get('/').content().decode()
    assert 'job&lt;1&gt;:9012' in page and 'median step &amp; &lt;scope&gt;' in page
    assert '<span class="badge bad">slower</span>' in page and '18.700 ms' in page
    assert 'aria-label="3 captures, from 15.100 ms to 18.700 ms"' in page and page.count('<circle') == 1
    assert 'Watch stopped at ' in page
    (s,) = server.sessions()
    assert f'<a href="./session/{s["id"]}/">2026_01_02_03_04_05</a>' in page


@pytest.mark.parametrize('state, badge', [('gone', 'warn'), ('busy', 'warn'), ('failed', 'bad')])
def test_what_is_wrong_with_a_watched_target_is_said(server, place, state, badge):
    watch_state(place, state=state, error='cannot be reached: <refused>', words=None)
    page = server.get('/').content().decode()
    assert f'<span class="badge {badge}">{state}</span> cannot be reached: &lt;refused&gt;' in page


def test_a_watch_that_fell_silent(server, place):
    watch_state(place, pid=1)
    assert 'No update since' in server.get('/').content().decode()
    watch_state(place, pid=1, updated_unix_ms=time.time_ns() // 1_000_000)
    page = server.get('/').content().decode()
    assert 'As of ' in page and 'No update since' not in page and 'Watch stopped at' not in page


@pytest.mark.parametrize('text', ['', '[]', '{', '{"schema":"view_profile.watch/1"}', '{"schema":"x","targets":[{}]}',
                                  '{"schema":"view_profile.watch/1","targets":{"a":1}}'])
def test_another_file_of_that_name_is_nothing(server, place, text):
    (place / 'logdir' / '.view_profile-watch.json').write_text(text)
    answer = server.get('/')
    assert answer.status == 200 and 'Watched programs' not in answer.content().decode()


def test_odd_figures_do_no_harm(server, place):
    odd = [{'median_ps': v, 'run': v} for v in (None, -1, 1 << 62, 'x', [], 0, (1 << 61))]
    for figures in (odd, 7, {}, [None], [{'median_ps': 5}] * 1000):
        watch_state(place, figures=figures, state='dancing', error='é' * 9, words=7)
        assert server.get('/').status == 200
    (place / 'logdir' / '.view_profile-watch.json').unlink()
    os.mkfifo(place / 'logdir' / '.view_profile-watch.json')
    assert server.get('/').status == 200
