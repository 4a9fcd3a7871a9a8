"""Runs of which nothing can be read: the list says so or their pages do, nothing is handed out as theirs,
and what stands beside them works."""
import gzip
import json
import pathlib
import sys

import pytest
from conftest import Server, trace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen import broken  # noqa: E402

BROKEN = {n: d for n, d in broken.unreadable().items() if not n.startswith('run.') and not n.endswith('.zip')}


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """Every broken file as the one host of a run of its own, and one run that is good."""
    root = tmp_path_factory.mktemp('broken')
    files = {**BROKEN, 'good.trace.json': trace(10)}
    for i, (name, data) in enumerate(files.items()):
        run = root / 'plugins' / 'profile' / f'2026_01_02_03_04_{i:02d}'
        run.mkdir(parents=True)
        (run / name).write_bytes(data)
    s = Server(root)
    s.by_file = {f['path'].rsplit('/', 1)[1]: x for x in s.sessions() for f in x['files']}
    yield s
    s.stop()


@pytest.mark.parametrize('name', BROKEN)
def test_no_answer_is_a_success(site, name):
    session = site.by_file[name]
    good = site.by_file['good.trace.json']['id']
    host = (session['hosts'] or ['x'])[0]
    ident = session['id']
    targets = [f'/session/{ident}/', f'/api/v1/session/{ident}/report', f'/api/v1/session/{ident}/findings',
               f'/api/v1/session/{ident}/ops', f'/api/v1/compare/{good}/{ident}', f'/api/v1/compare/{ident}/{good}',
               f'/compare/{good}/{ident}']
    answers = {t: site.get(t).status for t in targets}
    assert set(answers.values()) == {422}, answers
    if session['hosts']:
        for ending in ('.json', '.json.gz'):
            a = site.get(f'/trace/{ident}/{host}{ending}')
            names_only = name.startswith(('no_', 'bad_', 'cut_behind_names')) and 'json' in name
            assert a.status == (200 if names_only else 422), (ending, a.raw_head)


def test_the_good_one_works(site):
    good = site.by_file['good.trace.json']
    assert good['status'] == 'ok'
    assert site.get(f'/session/{good["id"]}/').status == 200
    assert len(json.loads(site.get(f'/trace/{good["id"]}/good.json').content())['traceEvents']) >= 10


@pytest.mark.parametrize('what,data', [('whole', lambda z: z), ('cut', lambda z: z[:len(z) * 2 // 3]),
                                       ('checksum', lambda z: z[:-8] + bytes([z[-8] ^ 1]) + z[-7:])])
def test_an_export_says_that_its_file_is_damaged(what, data, tmp_path):
    """A timeline made of a packed JSON that ends early or fails its checksum cannot pass for the whole one."""
    run = tmp_path / 'plugins' / 'profile' / '2026_01_02_03_04_05'
    run.mkdir(parents=True)
    (run / 'h.trace.json.gz').write_bytes(data(gzip.compress(trace(5000), mtime=0)))
    s = Server(tmp_path)
    try:
        ident = s.sessions()[0]['id']
        for ending in ('.json', '.json.gz'):
            body = s.get(f'/trace/{ident}/h{ending}').content()
            made = json.loads(gzip.decompress(body) if body[:2] == b'\x1f\x8b' else body)
            assert len(made['traceEvents']) >= (5000 if what != 'cut' else 100)
            assert ('view_profile_damage' in made) == (what != 'whole')
            assert what == 'whole' or made['view_profile_damage']
    finally:
        s.stop()
