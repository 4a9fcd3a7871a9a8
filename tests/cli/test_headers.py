"""The public headers in other people's programs: every macro, in C and C++ of several years, with the
warnings that such programs turn on."""
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PROGRAM = r"""
#include <view_profile.h>
#include <view_profile_capture.h>

static int twice(int x) { return 2 * x; }
VP_WRAP(int, traced_twice, twice, (int x), (x))
static void *task(void *p) { VP_FUNC(); return p; }

static void zones(vp_profiler *p, uint32_t name)
{
    VP_SCOPE("a"); VP_SCOPE("b");
    VP_SCOPE_LEVEL(VP_LEVEL_VERBOSE, "fine");
    VP_SCOPE_ARGS("args", VP_I64("bytes", 1), VP_F64("loss", 0.5), VP_STR("shape", "[1]"));
    VP_SCOPE_DYN(name);
    VP_STEP("train", 7);
    VP_COMPILE_SCOPE("jit");
    VP_LAUNCH("launch", 3);
    VP_BEGIN("pair");
    VP_INSTANT("now");
    VP_COUNTER("n", 1); VP_COUNTER_F("x", 1.5);
    VP_FLOW_OUT(1); VP_FLOW_IN(1);
    VP_END();
    VP_CONTEXT(p, 1, "context");
    if (VP_CALL(twice(1)) + traced_twice(2) > 100)
        VP_CALL_VOID(task(NULL));
    if (VP_CALL_N("two", twice(1)) > 100)
        VP_CALL_VOID_N("a task", task(NULL));
    if (vp_step_begin("train", 8) == VP_OK)
        vp_step_end();
    VP_PROFILE_SCOPE("dir");
}

int main(void)
{
    vp_config c = VP_CONFIG_INIT;
    vp_schedule s = VP_SCHEDULE_INIT;
    vp_result r = VP_RESULT_INIT;
    vp_step_stats t = VP_STEP_STATS_INIT;
    s.recording = c;
    if (s.num_steps != 5 || s.start_step != 150 || r.version + t.version != 2)
        return 1;
    if (c.version > 1)
        zones(NULL, vp_name("x"));
    return 0;
}
"""
LANGUAGES = [('gcc', 'c', 'c99'), ('gcc', 'c', 'c11'), ('gcc', 'c', 'gnu17'), ('clang', 'c', 'c99'), ('clang', 'c', 'c11'),
             ('g++', 'c++', 'c++11'), ('g++', 'c++', 'c++20'), ('g++', 'c++', 'gnu++20'), ('clang++', 'c++', 'c++14'),
             ('clang++', 'c++', 'c++20')]
HEADERS = sorted(p.name for p in (ROOT / 'include').glob('*.h'))



def compile_text(compiler, language, standard, text, out, *more):
    assert shutil.which(compiler), f'{compiler} is missing: scripts/setup --test installs it'
    done = subprocess.run([compiler, '-x', language, f'-std={standard}', '-O2', '-Wall', '-Wextra', '-Wshadow', '-Wpedantic',
                           '-Werror', '-I', ROOT / 'include', *more, '-c', '-o', out, '-'],
                          input=text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize('disabled', [[], ['-DVP_DISABLE']], ids=['on', 'disabled'])
@pytest.mark.parametrize('compiler,language,standard', LANGUAGES)
def test_compiles(tmp_path, compiler, language, standard, disabled):
    compile_text(compiler, language, standard, PROGRAM, tmp_path / 'program.o', *disabled)


# Each with one name that is built at run time: it would be read when it is gone.
NAMING = ['VP_SCOPE({0})', 'VP_SCOPE_LEVEL(VP_LEVEL_USER, {0})', 'VP_SCOPE_ARGS({0}, VP_I64("n", 1))', 'VP_STEP({0}, 1)',
          'VP_COMPILE_SCOPE({0})', 'VP_LAUNCH({0}, 1)', 'VP_BEGIN({0})', 'VP_INSTANT({0})', 'VP_COUNTER({0}, 1)',
          'VP_COUNTER_F({0}, 1.5)', '(void)VP_CALL_N({0}, 1)', 'VP_CALL_VOID_N({0}, (void)0)']
NOT_LITERAL = {'c': ['text', 'buffer', '"a" + index', 'index ? "a" : "b"'],
               'c++': ['text', 'buffer', '"a" + index', 'index ? "a" : "b"', 'built.c_str()']}


@pytest.mark.parametrize('optimised', ['-O0', '-O2'])
@pytest.mark.parametrize('compiler,language,standard', LANGUAGES + [('g++', 'c++', 'c++98')])
def test_takes_literals_only(compiler, language, standard, optimised):
    """Every macro, once a line: the error of each line says what takes such a name."""
    good = [macro.format('"a" "literal"') for macro in NAMING]
    bad = [macro.format(name) for macro in NAMING for name in NOT_LITERAL[language]]
    include = ['#include <view_profile_capture.h>', '#include <string>' if language == 'c++' else '']
    lines = include + [f'void z{i}(const char *text, int index, char *buffer{", std::string &built" * (language == "c++")}) '
                       f'{{ (void)text; (void)index; (void)buffer; {zone}; }}' for i, zone in enumerate(good + bad)]
    more = ['-ferror-limit=0'] if 'clang' in compiler else ['-ftrack-macro-expansion=0']
    done = subprocess.run([compiler, '-x', language, f'-std={standard}', optimised, *more, '-I', ROOT / 'include',
                           '-fsyntax-only', '-'], input='\n'.join(lines), text=True, capture_output=True)
    told = {int(n) for n in re.findall(r'<stdin>:(\d+):.*error: .*VP_SCOPE_DYN', done.stderr)}
    first = len(include) + len(good) + 1
    missing = [lines[n - 1] for n in range(first, first + len(bad)) if n not in told]
    assert not missing and min(told) == first, (missing, done.stderr[:3000])


@pytest.mark.parametrize('header', HEADERS)
@pytest.mark.parametrize('compiler,language,standard', LANGUAGES)
def test_each_header_alone_and_twice(tmp_path, compiler, language, standard, header):
    """Those that only another one includes say so; all others stand for themselves."""
    text = f'#include <{header}>\n' * 2
    if 'Include view_profile_capture.h instead' in ' '.join((ROOT / 'include' / header).read_text().replace('*', ' ').split()):
        text = '#include <view_profile_capture.h>\n' + text
    compile_text(compiler, language, standard, text + 'typedef int unit_is_not_empty;\n', tmp_path / 'header.o')


def test_nothing_is_left_of_what_is_disabled(tmp_path):
    """Annotations need no library then: only what starts and stops is still called."""
    out = compile_text('gcc', 'c', 'c11', PROGRAM, tmp_path / 'program.o', '-DVP_DISABLE')
    needs = {line.split()[-1] for line in subprocess.run(['nm', '-u', out], check=True, capture_output=True,
                                                         text=True).stdout.splitlines()}
    assert {n for n in needs if n.startswith('vp')} <= {'vp_name'}
