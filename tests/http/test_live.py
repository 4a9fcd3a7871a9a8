"""/api/v1/live: programs that can be told to record. The program here is this test, which answers on
the socket as a recorder would, and as one would not."""
import json
import os
import socket
import threading
import time

import pytest
from conftest import Server, trace

RUN = '2026_01_02_03_04_05'
URL = '/api/v1/live'


class Program:
    """Answers every line by `answer`: bytes, or a function of the line."""

    def __init__(self, runtime, answer, pid=None):
        self.directory = runtime / 'view_profile'
        self.directory.mkdir(mode=0o700, exist_ok=True)
        self.answer, self.heard = answer, []
        self.socket = socket.socket(socket.AF_UNIX)
        self.path = self.directory / f'{pid or os.getpid()}.sock'
        self.socket.bind(str(self.path))
        self.socket.listen()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with client:
                line = client.makefile('rb').readline()
                self.heard.append(line)
                try:
                    client.sendall(self.answer(line) if callable(self.answer) else self.answer)
                except OSError:
                    pass  # the server has heard enough

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.path.unlink()


def status(**more):
    return json.dumps({'schema': 'view_profile.control/1', 'ok': True, 'pid': os.getpid(),
                       'program': 'train <b>', 'state': 'idle', 'steps': 42, 'captures': 1,
                       'last_run': None, 'zones': 0, **more}).encode() + b'\n'


@pytest.fixture(scope='module')
def place(tmp_path_factory):
    root = tmp_path_factory.mktemp('live')
    run = root / 'logdir' / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    (run / 'a.trace.json').write_bytes(trace(20))
    (root / 'run').mkdir(mode=0o700)
    return root


@pytest.fixture(scope='module')
def server(place):
    before = os.environ.get('XDG_RUNTIME_DIR')
    os.environ['XDG_RUNTIME_DIR'] = str(place / 'run')
    s = Server(place / 'logdir')
    s.sessions()
    yield s
    s.stop()
    if before is None:
        del os.environ['XDG_RUNTIME_DIR']
    else:
        os.environ['XDG_RUNTIME_DIR'] = before


@pytest.fixture
def program(place):
    made = []

    def make(answer, **more):
        made.append(Program(place / 'run', answer, **more))
        return made[-1]

    yield make
    for p in made:
        p.close()


def live(server):
    answer = server.get(URL)
    assert answer.status == 200 and answer.get('Cache-Control') == 'no-store'
    body = json.loads(answer.content())
    assert body['schema'] == 'view_profile.live/1'
    return body['live']


def capture(server, pid, body='{}', fields=None):
    data = body.encode()
    fields = fields or ['Content-Type: application/json', f'Origin: http://{server.host}']
    return server.request('POST', f'{URL}/{pid}/capture', *fields,
                          f'Content-Length: {len(data)}', body=data)


def test_nobody(server):
    assert live(server) == []


def test_somebody(server, program):
    p = program(status())
    assert live(server) == [{'pid': os.getpid(), 'program': 'train <b>', 'state': 'idle', 'steps': 42,
                             'captures': 1, 'session': None, 'error': None}]
    assert p.heard == [b'STATUS\n']


def test_the_run_is_named_by_its_session_and_not_by_its_path(server, place, program):
    (s,) = server.sessions()
    program(status(last_run=str(place / 'logdir' / 'plugins' / 'profile' / RUN), captures=2))
    assert live(server)[0]['session'] == s['id']
    answer = server.get(URL).content()
    assert str(place).encode() not in answer


def test_what_went_wrong_is_told(server, program):
    program(status(last_error='the capture cannot start: no <room>', last_error_path='/secret'))
    assert live(server)[0]['error'] == 'the capture cannot start: no <room>'
    assert b'/secret' not in server.get(URL).content()


def test_what_went_wrong_is_cut_to_a_line(server, program):
    program(status(last_error='é' * 2000))
    assert 100 < len(live(server)[0]['error']) < 256


@pytest.mark.parametrize('where', ['logdir-other/plugins/profile/' + RUN, 'logdir', 'nowhere'])
def test_a_run_elsewhere_is_none_of_ours(server, place, program, where):
    program(status(last_run=str(place / where)))
    assert live(server)[0]['session'] is None


HOSTILE = {
    'nothing': b'',
    'no line': status()[:-1],
    'no JSON': b'hello\n',
    'another schema': status(schema='x/1'),
    'deep': b'[' * 10000 + b'\n',
    'endless': b'x' * (1 << 20),
    'twice': b'{"schema":"view_profile.control/1","schema":"view_profile.control/1"}\n',
    'wrong types': status(state=7),
}


@pytest.mark.parametrize('name', HOSTILE)
def test_whoever_answers_otherwise_is_left_out(server, program, name):
    program(HOSTILE[name])
    assert live(server) == []


def test_odd_values_do_no_harm(server, program):
    program(status(program='\u202e\x01' * 500, last_error=7, steps=-5, captures='many', state='dancing', pid=1))
    (p,) = live(server)
    assert p['pid'] == os.getpid()  # as the system says, not as it says
    assert p['steps'] == 0 and p['captures'] == 0 and p['state'] == 'idle'
    assert len(p['program']) < 64 and p['error'] is None


def test_a_socket_under_another_number_is_not_asked(server, program):
    p = program(status(), pid=os.getppid())
    assert live(server) == []
    assert [h for h in p.heard if h] == []  # it was connected to, and told nothing


def test_who_does_not_answer_costs_a_second_at_most(server, program):
    program(lambda line: time.sleep(30) or b'')
    start = time.monotonic()
    assert live(server) == []
    assert time.monotonic() - start < 15  # the second, and what a busy machine adds; not its answer


@pytest.mark.parametrize('body,line', [('{}', b'CAPTURE\n'), ('{"steps": 7}', b'CAPTURE steps=7\n'),
                                       ('{"ms": 250}', b'CAPTURE ms=250\n')])
def test_capture(server, program, body, line):
    p = program(lambda asked: status(state='armed'))
    answer = capture(server, os.getpid(), body)
    assert answer.status == 202
    assert json.loads(answer.content())['live'][0]['state'] == 'armed'
    assert p.heard == [line]


def test_a_request_that_is_accepted_is_counted_as_that(server, program):
    program(status(state='recording'))
    assert capture(server, os.getpid()).status == 202
    rows = [line for line in server.get('/metrics').content().decode().splitlines()
            if 'requests_total{' in line and '/api/v1/live/' in line]
    assert any('code="202"' in row for row in rows)
    assert not any('code="0"' in row for row in rows)


def test_capture_is_refused_when_one_is_on(server, program):
    program(status(ok=False, code='in use', error='Profiler already active'))
    answer = capture(server, os.getpid())
    assert answer.status == 409
    assert 'Profiler already active' in json.loads(answer.content())['error']


def test_capture_that_fails_says_why(server, program):
    program(status(ok=False, code='no space', error='no room for the pool'))
    answer = capture(server, os.getpid())
    assert answer.status >= 500
    assert 'no room for the pool' in json.loads(answer.content())['error']


@pytest.mark.parametrize('pid', ['1', '0', '-1', 'x', '99999999999'])
def test_no_such_process(server, program, pid):
    p = program(status())
    assert capture(server, pid).status == 404
    assert p.heard == []


@pytest.mark.parametrize('body', ['', '[]', '{"steps": 0}', '{"steps": "5"}', '{"steps": 1, "ms": 1}',
                                  '{"steps": 1e3}', '{"x": 1}', '{"ms": 999999999}', '{"ms": 5\nSTOP}'])
def test_bodies_that_make_no_sense(server, program, body):
    p = program(status())
    assert capture(server, os.getpid(), body).status == 400
    assert p.heard == []


def test_other_pages_cannot_ask(server, program):
    p = program(status())
    own = f'Origin: http://{server.host}'
    kind = 'Content-Type: application/json'
    for fields in ([kind, 'Origin: https://evil.example'], [own, 'Content-Type: text/plain'],
                   [kind, 'Origin: https://ui.perfetto.dev'], [kind, 'Sec-Fetch-Site: cross-site']):
        assert capture(server, os.getpid(), fields=fields).status in (403, 415), fields
    assert server.get(f'{URL}/{os.getpid()}/capture').status == 405
    assert p.heard == []


def test_the_directory_of_others_is_not_trusted(server, place, program):
    p = program(status())
    directory = place / 'run' / 'view_profile'
    directory.chmod(0o777)
    try:
        assert live(server) == []
    finally:
        directory.chmod(0o700)
    assert p.heard == []
    assert len(live(server)) == 1


def test_the_program_of_the_page_is_served(server):
    page = server.get('/').content().decode()
    assert '<section id="live"' in page and '/static/live.js?v=' in page
