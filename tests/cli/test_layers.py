"""scripts/check_layers says each kind of violation, on sources and objects made for it."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader('check_layers', str(ROOT / 'scripts/check_layers'))
spec = importlib.util.spec_from_loader('check_layers', loader)
law = importlib.util.module_from_spec(spec)
loader.exec_module(law)

ROOMS = law.read_rooms(['# a comment', 'trace/base:', 'trace/read: trace/base', 'trace/read/bytes:', 'trace/read/json: bytes',
                        'trace/read/load: doors', 'trace/report: trace/read trace/base', 'server/net: trace/base',
                        'server/net/request:'])


@pytest.mark.parametrize('name,line', [
    ('trace/base/err.c', '#include "trace/read/bytes/sink.h"'),         # upwards
    ('trace/read/bytes/stream.c', '#include "trace/read/json/scan.h"'),  # upwards within a room
    ('trace/read/json/scan.c', '#include "trace/read/open.h"'),          # an inner room, its own door
    ('trace/base/err.c', '#include "trace/read/open.h"'),
    ('trace/read/odd/file.c', '#include "trace/report/report.h"'),
    ('trace/base/net.c', '#include <microhttpd.h>'),
    ('server/net/http.c', '#include <microhttpd.h>'),
    ('trace/read/open.c', '    strcpy(a, b);'),
    ('trace/read/open.c', '    p = malloc(3);'),
    ('server/net/http.c', '    assert(p);'),
    ('server/net/http.c', 'pthread_cond_timedwait(a, b, c); x = CLOCK_REALTIME;'),
])
def test_a_violation_is_said(name, line):
    assert len(law.check_file(name, line + '\n', ROOMS)) == 1


@pytest.mark.parametrize('name,line', [
    ('trace/read/json/scan.c', '#include "trace/read/bytes/sink.h"'),
    ('trace/read/json/scan.c', '#include "trace/base/err.h"'),
    ('trace/read/open.c', '#include "trace/read/json/scan.h"'),  # a door sees its inner rooms
    ('trace/read/load/load.c', '#include "trace/read/open.h"'),  # one that lies above its doors
    ('trace/report/text.c', '#include "trace/read/bytes/sink.h"'),
    ('server/net/request/libmicrohttpd.h', '#include <microhttpd.h>'),
    ('trace/base/mem.c', '    p = malloc(3);'),
    ('trace/read/open.c', '/* strcpy(a, b) */ puts("malloc(3)");'),
])
def test_what_is_allowed(name, line):
    assert law.check_file(name, line + '\n', ROOMS) == []


def test_rooms_and_names():
    assert law.check_rooms(ROOMS) == []
    ring = law.read_rooms(['trace/a:', 'trace/a/x: y', 'trace/a/y: x'])
    assert len(law.check_rooms(ring)) == 1
    assert law.check_names(['trace/a/x.c', 'trace/a/x.h', 'trace/b/y.c']) == []
    assert len(law.check_names(['trace/a/x.c', 'trace/b/x.c'])) == 1
    assert law.check_file('trace/nowhere/x.c', '', {'trace/base': []})[0].endswith('no room for it')
    assert len(law.check_docs(law.read_rooms(['trace/never:']))) > 1  # it has none, and all that are there


def test_an_audience(tmp_path, monkeypatch):
    for name, text in {'trace/a/x.h': '/* What it is. Only analyze/ includes this. */', 'trace/analyze/y.c': '#include "trace/a/x.h"',
                       'trace/b/z.c': '#include "trace/a/x.h"'}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(law, 'ROOT', tmp_path)
    files = ['trace/a/x.h', 'trace/analyze/y.c', 'trace/b/z.c']
    assert law.check_audience(files) == ['trace/a/x.h: says that only analyze includes it; trace/b/z.c does']
    assert law.check_audience(files[:2]) == []


def test_circles():
    assert law.circles({'a': {'b'}, 'b': {'c'}, 'c': set()}) == []
    assert law.circles({'a': {'b'}, 'b': {'c'}, 'c': {'a'}, 'd': {'a'}}) == [['a', 'b', 'c']]
    two = {'a': {'b'}, 'b': {'a'}, 'c': {'d', 'a'}, 'd': {'c'}}
    assert sorted(law.circles(two)) == [['a', 'b'], ['c', 'd']]
    deep = {i: {i + 1} for i in range(100000)} | {100000: set()}
    assert law.circles(deep) == []  # no recursion


def test_calls_between_objects(tmp_path):
    """Objects named as cmake names them, of files that are there."""
    sources = {'trace/base/err.c': 'int up(void); int low(void) { return up(); }',
               'trace/base/fs.c': 'int low(void); int up(void) { return low(); }'}
    for name, text in sources.items():
        source, out = tmp_path / 'x.c', tmp_path / 'CMakeFiles/vp_core.dir' / f'{name}.o'
        out.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        subprocess.run(['cc', '-c', '-o', out, source], check=True)
    found = law.check_calls(tmp_path, law.read_rooms(['trace/base:']))
    assert found[0] == 'files call in a circle: trace/base/err.c, trace/base/fs.c'
    assert law.check_calls(tmp_path / 'nothing', ROOMS) != []


def test_the_tree_keeps_the_law():
    done = subprocess.run([ROOT / 'scripts/check_layers'], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith(' files, 0 violations\n')
