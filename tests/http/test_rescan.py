"""Runs come and go, and are looked for again and again, while everything is served: no answer is
wrong, and in the thread sanitizer's build nothing races."""
import gzip
import json
import shutil
import threading
import time

from conftest import Server, trace

SECONDS = 4


def test_rescans_while_serving(tmp_path):
    root = tmp_path / 'logdir' / 'plugins' / 'profile'
    content = trace(300)

    def make(name):
        run = root / name
        run.mkdir(parents=True)
        (run / 'alpha.trace.json').write_bytes(content)
        (run / 'beta.trace.json.gz').write_bytes(gzip.compress(content, mtime=0))

    for i in range(5):
        make(f'2026_01_01_00_00_0{i}')
    server = Server(tmp_path / 'logdir')
    stays = [s['id'] for s in json.loads(server.get('/api/v1/sessions').content())['sessions']
             if s['name'].endswith('00_00')]
    assert len(stays) == 1
    wrong, answers, until = [], [0], time.monotonic() + SECONDS

    def repeat(target, allowed, *fields, method='GET', body=b''):
        def run():
            while time.monotonic() < until and not wrong:
                a = server.request(method, target, *fields, body=body)
                answers[0] += 1
                if a.status not in allowed:
                    wrong.append((method, target, a.status, a.body[:200]))
        return threading.Thread(target=run)

    rescan = ['Sec-Fetch-Site: same-origin', 'Content-Type: application/json', 'Content-Length: 2']
    threads = [repeat('/api/v1/rescan', {200}, *rescan, method='POST', body=b'{}'),
               repeat('/', {200}), repeat('/api/v1/sessions', {200}), repeat('/metrics', {200}),
               repeat(f'/session/{stays[0]}/', {200}), repeat(f'/trace/{stays[0]}/alpha.json', {200}),
               # gone: before it was looked up, before it was opened, while it was read (try again)
               repeat('/session/2026_01_01_00_00_09/', {200, 404, 422, 503}), repeat('/readyz', {200})]
    for t in threads:
        t.start()
    while time.monotonic() < until:
        make('2026_01_01_00_00_09')
        time.sleep(0.05)
        shutil.rmtree(root / '2026_01_01_00_00_09')
        time.sleep(0.02)
    for t in threads:
        t.join()
    assert not wrong and answers[0] > len(threads)
    a = server.request('POST', '/api/v1/rescan', *rescan, body=b'{}')
    assert a.status == 200 and json.loads(a.content())['sessions'] == 5
    server.stop()
