"""Where the hand-off page opens Perfetto: the link that it carries, over the wire."""
import html
import json
import re
import urllib.parse

import pytest

from added import own
from conftest import RUN, Server, events


def link(server, session, host, query=''):
    page = server.get(f'/perfetto/{session}/{host}{query}').content().decode()
    return html.unescape(re.search(r' data-ui="([^"]*)"', page).group(1)), page


def view(server, session, host, query=''):
    """The parameters of the link that say what is shown, as a dict."""
    url, _ = link(server, session, host, query)
    assert url.startswith('https://ui.perfetto.dev/#!/viewer?startupCommands=%5B')
    given = urllib.parse.parse_qs(url.split('?', 1)[1])
    return {k: int(v[0]) for k, v in given.items() if k != 'startupCommands'}


@pytest.fixture
def fresh(profile_dir):
    s = Server(profile_dir)
    yield s
    s.stop()


def test_it_opens_where_the_devices_work(fresh):
    """As soon as a report is there, which the page does not wait for. conftest: beta has ten ops of 7 us, one
    every 10 us, and alpha a thousand."""
    session = fresh.sessions()[0]['id']
    assert view(fresh, session, 'beta') == {}
    assert fresh.get(f'/session/{session}/').status == 200
    assert view(fresh, session, 'beta') == {'visStart': 0, 'visEnd': 97000}
    assert view(fresh, session, 'alpha') == {'visStart': 0, 'visEnd': 9997000}
    _, page = link(fresh, session, 'beta')
    assert 'Opens zoomed to device activity.' in page and 'data-start' not in page


def test_a_time_is_selected_with_room_around(fresh):
    session = fresh.sessions()[0]['id']
    at = '?at=10000..17000'
    exact = {'ts': 10000, 'dur': 7000}
    assert view(fresh, session, 'beta', at) == {**exact, 'visStart': 10000, 'visEnd': 17000}
    assert fresh.get(f'/session/{session}/').status == 200
    assert view(fresh, session, 'beta', at) == {**exact, 'visStart': 7900, 'visEnd': 19100}
    assert view(fresh, session, 'beta', '?at=0..97000') == {'ts': 0, 'dur': 97000, 'visStart': 0, 'visEnd': 97000}
    _, page = link(fresh, session, 'beta', at)
    assert ' data-start="10000" data-end="17000" data-share="0.4"' in page
    assert 'Opens zoomed to 10000 to 17000 ns' in page


def shifted(tmp_path, first_us, step_us=10):
    """A server over ten ops of 7 us from that time on; (the server, its session)."""
    run = tmp_path / 'plugins' / 'profile' / RUN
    run.mkdir(parents=True)
    made = events(10)
    for i, e in enumerate(made[2:]):
        e['ts'] = first_us + step_us * i
    (run / 'beta.trace.json').write_text(json.dumps({'traceEvents': made}))
    s = Server(tmp_path)
    return s, s.sessions()[0]['id']


@pytest.mark.parametrize('first_us', [0, 999_999_999_990, 10**12, 1_700_123_456_789_012, 1_700_999_999_999_990])
def test_times_of_a_link_are_those_of_what_is_sent(tmp_path, first_us):
    """Absolute times are sent without a part that is the same for all; a link leads there all the same, also where
    that part changes in the middle of a run."""
    s, session = shifted(tmp_path, first_us)
    sent = [e for e in own(json.loads(s.get(f'/trace/{session}/beta.json').content())) if e['ph'] == 'X']
    assert s.get(f'/session/{session}/').status == 200
    whole = view(s, session, 'beta')
    assert whole == {'visStart': round(sent[0]['ts'] * 1000), 'visEnd': round(sent[9]['ts'] * 1000) + 7000}
    for i in (0, 5, 9):
        start = (first_us + 10 * i) * 1000
        got = view(s, session, 'beta', f'?at={start}..{start + 7000}')
        assert (got['ts'], got['dur']) == (round(sent[i]['ts'] * 1000), 7000), i
        _, page = link(s, session, 'beta', f'?at={start}..{start + 7000}')
        assert f' data-start="{got["ts"]}" data-end="{got["ts"] + 7000}"' in page
        assert f'Opens zoomed to {start} to {start + 7000} ns' in page
    s.stop()


@pytest.mark.parametrize('at', ['', '5', '5..', '..5', '5..5', '6..5', '-1..5', '1..9223372036854775808', '1..2x'])
def test_a_time_that_is_none(server, session, at):
    a = server.get(f'/perfetto/{session}/beta?at={at}')
    assert a.status == 400 and b'START..END in nanoseconds' in a.content()
