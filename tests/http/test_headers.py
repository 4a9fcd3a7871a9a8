"""Every answer carries the headers of docs/reference/http.md#response-headers, whatever its
status."""
import gzip
import json

import pytest

ALWAYS = {
    'Content-Security-Policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
}
TARGETS = ['/', '/healthz', '/api/v1/sessions', '/nothing', '/%00', '/static/app.css',
           '/static/none.css', '/session/none/', '/perfetto/none', '/tensorboard/none',
           '/trace/none/a.json', '/api/v1/session/none/report']


@pytest.mark.parametrize('method', ['GET', 'HEAD', 'POST', 'DELETE', 'BREW'])
@pytest.mark.parametrize('target', TARGETS)
def test_policy_on_every_answer(server, method, target):
    a = server.request(method, target)
    assert a.status
    for name, value in ALWAYS.items():
        assert a.get(name) == value
    assert a.get('Permissions-Policy')
    assert a.get('Cache-Control')
    assert a.get('Access-Control-Allow-Origin') is None
    assert a.get('Access-Control-Allow-Credentials') is None
    assert a.get('Cross-Origin-Resource-Policy') == 'same-origin'


def test_policy_on_success(server, session):
    for target in [f'/session/{session}/', f'/perfetto/{session}',
                   f'/api/v1/session/{session}/report', f'/trace/{session}/beta.json',
                   f'/trace/{session}/raw/beta.trace.json']:
        a = server.get(target)
        assert a.status == 200, (target, a.body[:300])
        for name, value in ALWAYS.items():
            assert a.get(name) == value


def test_types_and_caching(server, session):
    rows = [('/healthz', 'text/plain; charset=utf-8', 'no-cache'),
            ('/', 'text/html; charset=utf-8', 'no-cache'),
            ('/api/v1/sessions', 'application/json', 'no-store'),
            (f'/api/v1/session/{session}/report', 'application/json', 'no-store'),
            (f'/trace/{session}/beta.json', 'application/json', 'no-cache'),
            (f'/trace/{session}/beta.json.gz', 'application/gzip', 'no-cache'),
            ('/static/app.css', 'text/css; charset=utf-8', 'no-cache')]
    for target, kind, cache in rows:
        a = server.get(target)
        assert (a.status, a.get('Content-Type'), a.get('Cache-Control')) == (200, kind, cache), target


def test_assets_are_immutable_under_their_etag(server):
    a = server.get('/static/app.css')
    version = a.get('ETag').strip('"')
    b = server.get(f'/static/app.css?v={version}')
    assert b.get('Cache-Control') == 'public, max-age=31536000, immutable'
    assert server.get('/static/app.css?v=0').get('Cache-Control') == 'no-cache'
    assert server.get('/static/app.css', f'If-None-Match: "{version}"').status == 304


def test_gzip_when_accepted(server):
    plain = server.get('/static/app.css')
    packed = server.get('/static/app.css', 'Accept-Encoding: gzip')
    assert plain.get('Content-Encoding') is None
    assert packed.get('Content-Encoding') == 'gzip'
    assert gzip.decompress(packed.body) == plain.body
    assert plain.get('Vary') == packed.get('Vary') == 'Accept-Encoding'
    refused = server.get('/static/app.css', 'Accept-Encoding: gzip;q=0')
    assert refused.body == plain.body


def test_gzipped_json(server, session):
    target = f'/api/v1/session/{session}/report'
    plain = server.get(target)
    packed = server.get(target, 'Accept-Encoding: br, gzip')
    assert packed.get('Content-Encoding') == 'gzip'
    assert json.loads(gzip.decompress(packed.body)) == json.loads(plain.body)
    assert packed.get('Vary') == 'Accept-Encoding'


@pytest.mark.parametrize('target', ['/', '/healthz', '/static/app.css', '/nothing',
                                    '/api/v1/sessions'])
def test_head_is_get_without_body(server, target):
    a, b = server.get(target), server.request('HEAD', target)
    assert b.body == b''
    assert a.status == b.status
    assert [f for f in a.fields if f[0] != 'Date'] == [f for f in b.fields if f[0] != 'Date']


def test_head_of_traces(server, session):
    """Nothing may follow the head of a HEAD answer. What is made while it is sent has no length and no
    ranges yet; a later answer, HEAD too, may find it kept and then has them."""
    for name in ['beta.json', 'beta.json.gz', 'raw/beta.trace.json']:
        a = server.get(f'/trace/{session}/{name}')
        b = server.request('HEAD', f'/trace/{session}/{name}')
        assert b.body == b'' and b.status == 200
        drop = ('Date', 'Connection', 'Transfer-Encoding', 'Accept-Ranges', 'Content-Length')
        assert [f for f in a.fields if f[0] not in drop] == [f for f in b.fields if f[0] not in drop]


def test_errors_of_the_api_are_json(server):
    a = server.get('/api/v1/session/none/report')
    assert a.status == 404
    assert a.get('Content-Type') == 'application/json'
    assert list(json.loads(a.body)) == ['error']


def test_errors_show_no_paths(server, profile_dir):
    for target in ['/session/none/', '/trace/none/a.json', '/api/v1/session/none/ops', '/x']:
        assert str(profile_dir).encode() not in server.get(target).body


def test_methods(server):
    for method in ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']:
        a = server.request(method, '/healthz')
        assert (a.status, a.get('Allow')) == (405, 'GET, HEAD'), method
    assert server.request('POST', '/status').status == 404  # Perfetto probes it
    assert server.request('GET', '/status').status == 404
    assert server.request('get', '/healthz').status == 501
