"""What a profile names is text wherever it is shown: a comparison of runs whose devices, ops, steps, modules and
scopes have names made to break out of Markdown, HTML, XML, CSV and terminals."""
import csv
import io
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import xspace  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402

MODEL_STAT = 'device_type_string'
EVIL = ['<img src=x onerror=alert(1)>', '</td></table><script>alert(1)</script>', '[click](javascript:alert(1))',
        '`code` | cell | ![i](http://evil.test/i.png)', '"/><failure message="x"/>', ']]><x/>', '=HYPERLINK("x")',
        '&lt;b&gt; \x1b[31mred\x07', 'line\n# heading\r\n- item', '\u202egnp.exe', '$x$ ~~y~~ *z* _w_ #1']


def scene(extra, slow):
    made = Scene()
    for k in range(2 + extra):
        chip = TpuChip(made)
        for n in range(6):
            with chip.step(n), chip.module(EVIL[n % len(EVIL)]):
                for i, name in enumerate(EVIL):
                    chip.op(name, MS * (1 + slow * (i % 3)), 'loop fusion', scope='jit(f)/' + EVIL[i - 1], module=EVIL[3])
            chip.idle(MS)
    return made


@pytest.fixture(scope='module')
def pair(tmp_path_factory):
    out = []
    for extra, slow in ((0, 0), (1, 2)):
        path = tmp_path_factory.mktemp('run') / 'host<b>|`x`.xplane.pb'
        path.write_bytes(xspace.encode(scene(extra, slow).host))
        out.append(str(path))
    return out


def compare(pair, form):
    done = view_profile('compare', *pair, '--format', form, check=False)
    assert done.returncode == 0, done
    return done.stdout


def unescaped(text):
    """Markdown without its code spans and escapes: what is left is markup."""
    return re.sub(r'\\.', '', re.sub(r'`[^`\n]*`', '', text))


def test_markdown(pair):
    text = compare(pair, 'md')
    assert not re.search(r'[\x00-\x09\x0b-\x1f\x7f]', text)
    bare = unescaped(text)
    assert '<' not in bare and '![' not in bare and '](' not in bare
    rows = [line.count('|') for line in bare.splitlines() if line.startswith('|')]
    assert set(rows) <= {6, 7}, 'a name added a cell'


def test_caveats_name_devices_as_text(tmp_path):
    """A device's model stands in the caveat about runs on different ones."""
    paths = []
    for model in ('TPU v5 lite', EVIL[0] + EVIL[2]):
        made = Scene()
        chip = TpuChip(made, stats={MODEL_STAT: model})
        for n in range(4):
            with chip.step(n), chip.module(run=n):
                chip.op('f.1', MS, 'loop fusion')
        path = tmp_path / f'{len(paths)}.xplane.pb'
        path.write_bytes(xspace.encode(made.host))
        paths.append(str(path))
    text = compare(paths, 'md')
    assert 'A ran on' in text and 'onerror' in text
    bare = unescaped(text)
    assert '<img' not in bare and '](' not in bare
    assert '<img' not in compare(paths, 'html')


def test_junit(pair):
    root = ElementTree.fromstring(compare(pair, 'junit'))
    assert [e.tag for e in root.iter()] in (['testsuites', 'testsuite', 'testcase', 'system-out'],
                                            ['testsuites', 'testsuite', 'testcase', 'skipped', 'system-out'])


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attrs):
        if tag in ('script', 'img', 'x') or any(k.startswith('on') for k, _ in attrs):
            self.bad.append((tag, attrs))
        self.bad += [a for a in attrs if a[0] == 'href' and (a[1] or '').startswith('javascript')]


@pytest.mark.parametrize('args', (('compare',), ('report',)))
def test_html(pair, args):
    page = Page()
    if args == ('compare',):
        page.feed(compare(pair, 'html'))
    else:
        page.feed(view_profile('report', '--format=html', pair[1]).stdout)
    assert page.bad == []


def test_csv_and_terminals(pair):
    for text in (compare(pair, 'csv'), view_profile('report', '--format=csv', pair[1]).stdout):
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(r) for r in rows}) == 1
        assert not [c for r in rows for c in r if c[:1] in '=@' and c]
        assert '\x1b' not in text and '\x07' not in text
    for command in ('report', 'top', 'findings'):
        shown = view_profile(command, pair[1]).stdout
        assert not re.search('[\x00-\x09\x0b-\x1f\x7f\u202e]', shown), command
