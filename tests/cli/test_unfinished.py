"""A program that was killed while it recorded: its session is there, says what it is, and every
command and page works on it."""
import json
import pathlib
import re
import subprocess
import sys

import pytest
from serving import Serving

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'golden'))
from added import own  # noqa: E402
from common import tool  # noqa: E402


@pytest.fixture
def killed(place, tmp_path):
    folder = tmp_path / 'killed'
    done = subprocess.run([tool('capture_tool'), '--killed', folder], check=False)
    assert done.returncode == -9
    return folder


def ask(place, *args):
    done = subprocess.run(['view_profile', *map(str, args)], cwd=place.dir, env=place.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_listed_as_unfinished(place, killed):
    (session,) = json.loads(ask(place, 'list', '--format', 'json', killed))['sessions']
    assert session['status'] == 'unfinished'
    assert 'killed' in session['why']
    assert session['hosts'] == ['box']
    assert [f['kind'] for f in session['files']] == ['vpcap']
    assert 'unfinish' in ask(place, 'list', killed)  # cut off at this width


def test_commands_work_on_it(place, killed):
    top = ask(place, 'top', killed)
    assert 'forward' in top, top
    report = json.loads(ask(place, 'report', '--format', 'json', killed))
    # the fourth has no end
    assert [(s['number'], s['partial']) for s in report['steps']['list']] == [
        (0, False), (1, False), (2, False), (3, True)]
    said = [q['message'] for q in report['quality'] if q['code'] == 'unfinished']
    assert any('killed' in m for m in said)
    assert any('2 zones had not ended' in m for m in said)
    ask(place, 'findings', killed)


def test_badges_say_so(place, killed):
    """On the index, on its page, and where they say why: nobody takes it for a whole recording."""
    with Serving(place, '--port', '0', '--profile-dir', killed) as s:
        ident = json.loads(s.get('/api/v1/sessions')[2])['sessions'][0]['id']
        _, _, page = s.get('/')
        (row,) = re.findall(rf'<tr [^>]*data-key="{ident}".*?</tr>', page, re.S)
        assert '<span class="badge warn">unfinished</span> the program was killed, is still running, or ran out of disk space' in row
        assert f'href="./session/{ident}/"' in row  # it can be opened
        _, _, page = s.get(f'/session/{ident}/')
        (href, text) = re.search(r'<a class="badge warn" href="([^"]+)">([^<]+)</a>', page).groups()
        assert text.startswith('Data: partial')
        _, _, page = s.get(f'/session/{ident}/' + href.replace('&amp;', '&').split('#')[0])
        assert 'was killed' in page and '<code>unfinished</code>' in page


def test_pages_and_export_work_on_it(place, killed):
    with Serving(place, '--port', '0', '--profile-dir', killed) as s:
        status, _, page = s.get('/')
        assert status == 200 and 'unfinished' in page
        sessions = json.loads(s.get('/api/v1/sessions')[2])['sessions']
        ident = sessions[0]['id']
        assert f'./session/{ident}/' in page
        status, _, page = s.get(f'/session/{ident}/')
        assert status == 200
        assert 'forward' in page, ask(place, 'report', '--format', 'json', killed)
        assert 'killed' in page
        status, _, text = s.get(f'/trace/{ident}/box.json')
        assert status == 200
        body = text if text.lstrip().startswith('{') else text[text.index('{'):text.rindex('}') + 1]
        assert sum(e["name"] == "forward" for e in own(json.loads(body))) == 4
