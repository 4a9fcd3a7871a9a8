"""scripts/check_layers reports each kind of violation, on small sources and objects."""
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

MODULES = law.read_modules(['# a comment', 'trace/base:', 'trace/read: trace/base', 'trace/read/bytes:', 'trace/read/json: bytes',
                        'trace/read/load: public', 'trace/report: trace/read trace/base', 'server/net: trace/base',
                        'server/net/request:'])


@pytest.mark.parametrize('name,line', [
    ('trace/base/err.c', '#include "trace/read/bytes/sink.h"'),         # upwards
    ('trace/read/bytes/stream.c', '#include "trace/read/json/scan.h"'),  # upwards within a module
    ('trace/read/json/scan.c', '#include "trace/read/open.h"'),          # a part, the public header of its module
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
    assert len(law.check_file(name, line + '\n', MODULES)) == 1


@pytest.mark.parametrize('name,line', [
    ('trace/read/json/scan.c', '#include "trace/read/bytes/sink.h"'),
    ('trace/read/json/scan.c', '#include "trace/base/err.h"'),
    ('trace/read/open.c', '#include "trace/read/json/scan.h"'),  # a public header sees the parts
    ('trace/read/load/load.c', '#include "trace/read/open.h"'),  # a part above the public headers
    ('trace/report/text.c', '#include "trace/read/bytes/sink.h"'),
    ('server/net/request/libmicrohttpd.h', '#include <microhttpd.h>'),
    ('trace/base/mem.c', '    p = malloc(3);'),
    ('trace/read/open.c', '/* strcpy(a, b) */ puts("malloc(3)");'),
])
def test_what_is_allowed(name, line):
    assert law.check_file(name, line + '\n', MODULES) == []


def test_modules_and_names():
    assert law.check_modules(MODULES) == []
    ring = law.read_modules(['trace/a:', 'trace/a/x: y', 'trace/a/y: x'])
    assert len(law.check_modules(ring)) == 1
    assert law.check_names(['trace/a/x.c', 'trace/a/x.h', 'trace/b/y.c']) == []
    assert len(law.check_names(['trace/a/x.c', 'trace/b/x.c'])) == 1
    assert law.check_file('trace/nowhere/x.c', '', {'trace/base': []})[0].endswith('no row for its folder')
    assert len(law.check_docs(law.read_modules(['trace/never:']))) > 1  # it lacks this one and has all real ones


def test_the_map(tmp_path, monkeypatch, capsys):
    for name, text in {'trace/read/x.h': '/* */', 'trace/report/y.c': '#include "trace/read/x.h"'}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(law, 'ROOT', tmp_path)
    law.print_map(['trace/read/x.h', 'trace/report/y.c'], MODULES)
    assert capsys.readouterr().out == 'trace/read/x.h: trace/report\n'


def test_cycles():
    assert law.cycles({'a': {'b'}, 'b': {'c'}, 'c': set()}) == []
    assert law.cycles({'a': {'b'}, 'b': {'c'}, 'c': {'a'}, 'd': {'a'}}) == [['a', 'b', 'c']]
    two = {'a': {'b'}, 'b': {'a'}, 'c': {'d', 'a'}, 'd': {'c'}}
    assert sorted(law.cycles(two)) == [['a', 'b'], ['c', 'd']]
    deep = {i: {i + 1} for i in range(100000)} | {100000: set()}
    assert law.cycles(deep) == []  # no recursion


def test_calls_between_objects(tmp_path):
    """Objects named as cmake names them, of files that are there."""
    sources = {'trace/base/err.c': 'int up(void); int low(void) { return up(); }',
               'trace/base/fs.c': 'int low(void); int up(void) { return low(); }'}
    for name, text in sources.items():
        source, out = tmp_path / 'x.c', tmp_path / 'CMakeFiles/vp_core.dir' / f'{name}.o'
        out.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        subprocess.run(['cc', '-c', '-o', out, source], check=True)
    found = law.check_calls(tmp_path, law.read_modules(['trace/base:']))
    assert found[0] == 'call cycle between files: trace/base/err.c, trace/base/fs.c'
    assert law.check_calls(tmp_path / 'nothing', MODULES) != []


def test_the_tree_has_no_violation():
    done = subprocess.run([ROOT / 'scripts/check_layers'], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith(' files, 0 violations\n')
