"""`view_profile memory` says in every format what the report has of memory: every row of a peak, with its scope and line."""
import csv
import functools
import html
import io
import json
import os
import re

import pytest

from common import PROGRAM, TRACES, run, trace, view_profile
from traces import NARROW
from test_memory_static import FILES, NAMES, reference_module

SNAPSHOTS = [str(p.relative_to(TRACES)) for p in sorted(TRACES.glob('memory_snapshot/**/*.pickle'))][:3]


@functools.lru_cache(maxsize=None)
def memory(name, form, *more):
    return run(PROGRAM, 'memory', '--format', form, *more, TRACES / name)[0].decode()


@functools.lru_cache(maxsize=None)
def report_of(name):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', TRACES / name)[0])


@pytest.mark.parametrize('name', NAMES + SNAPSHOTS)
def test_json_is_the_report_s(name):
    made, whole = json.loads(memory(name, 'json')), report_of(name)
    assert made['schema'] == 'view_profile.memory/1'
    for key in ('session', 'memory', 'memory_static', 'memory_programs', 'quality'):
        assert made[key] == whole[key]


@pytest.mark.parametrize('name', NAMES + SNAPSHOTS)
def test_what_could_be_spared_comes_first_by_bytes(name):
    told = [f for f in report_of(name)['findings'] if f['status'] == 'fired' and f['impact']['bytes']]
    want = sorted(told, key=lambda f: -f['impact']['bytes'])
    assert json.loads(memory(name, 'json'))['findings'] == want
    text, page = memory(name, 'text', '--color', 'never'), memory(name, 'html')
    assert re.findall(r'^ ?\d+ !+ +\w+ .* (F\d+) [a-z-]+$', text, re.M) == [f['id'] for f in want]
    assert re.findall(r'id="finding-(F\d+)"', page) == [f['id'] for f in want]
    assert ('Potential memory savings' in text, 'Potential memory savings' in page) == 2 * (bool(want),)


def test_something_could_be_spared():
    assert sum(len(json.loads(memory(n, 'json'))['findings']) for n in NAMES) >= (3 if NARROW else 4)


SPARKS = '▁▂▃▄▅▆▇█'
CURVES = ['pytorch_cuda/AMD-AGI__TraceLens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz', *SNAPSHOTS]


@pytest.mark.parametrize('name', [n for n in NAMES if 'cpu' not in n] + CURVES)
def test_the_terminal_draws_what_is_in_use_over_time(name):
    """Each column is the most of its stretch of time, or what was in use before it."""
    trace(name)
    told = [m for m in (report_of(name)['memory'] or {'allocators': []})['allocators'] if len(m['sample_bytes']) >= 8][:16]
    lines = re.findall(rf'^  ([{SPARKS}]{{20,}})  (.*)$', memory(name, 'text', '--color', 'never'), re.M)
    drawn = [(curve, name) for curve, name in lines if any(is_cut_of(name, m['allocator']) for m in told)]
    assert len(drawn) == len(told)
    for (curve, _), m in zip(drawn, told):
        at, level, n = m['sample_start_ps'], 0, len(curve)
        points = list(zip(at, m['sample_bytes']))
        for c, spark in enumerate(curve, 1):
            here = [b for t, b in points if (c - 1) * (at[-1] - at[0]) < (t - at[0]) * n <= c * (at[-1] - at[0])
                    or c == 1 and t == at[0]]
            assert SPARKS.index(spark) == max([level, *here]) * 7 // m['peak_bytes']
            level = here[-1] if here else level


@pytest.mark.parametrize('name', NAMES)
def test_what_all_programs_take_together_is_said_with_what_it_assumes(name):
    told = [p for p in report_of(name)['memory_programs'] or ()
            if p['programs'] >= 2 and p['most_bytes'] > p['least_bytes']]
    text = ' '.join(memory(name, 'text', '--color', 'never').split())
    page = html.unescape(memory(name, 'html'))
    for p in told:
        line = (f": at least {human(p['least_bytes'])} (the largest program alone); at most {human(p['most_bytes'])} "
                '(if arguments, results and constants of all programs stay allocated and none are shared).')
        assert f"All {p['programs']} executed programs" in page and line in page and line in text


@pytest.mark.parametrize('name', NAMES + SNAPSHOTS)
def test_csv_has_every_holder_once(name):
    rows = list(csv.DictReader(io.StringIO(memory(name, 'csv'))))
    whole = report_of(name)
    plans = [(p['module'], str(p['space']), b['instruction'], str(b['bytes']), b['scope'] or '', b['source'] or '')
             for p in whole['memory_static'] for b in p['live']]
    assert [(r['name'], r['space'], r['holder'], r['bytes'], r['scope'], r['source']) for r in rows if r['of'] == 'plan'] == plans
    held = [(m['allocator'], h['name'], str(h['bytes'])) for m in (whole['memory'] or {'allocators': []})['allocators']
            for h in m['top']]
    assert [(r['name'], r['holder'], r['bytes']) for r in rows if r['of'] == 'allocator'] == held


def is_cut_of(cell, text):
    """"broadc…ion.2", "…t(f)/add" or the whole; a dash where nothing is known"""
    first, last = (cell.split('…') + [''])[:2] if '…' in cell else (cell, '')
    return text.startswith(first) and text.endswith(last) if text else cell == '-'


@pytest.mark.parametrize('name', NAMES)
def test_the_terminal_shows_the_largest_with_scope_and_line(name):
    lines = memory(name, 'text', '--top', '5', '--color', 'never').splitlines()
    shown = [p for p in report_of(name)['memory_static'] if (p['peak_bytes'] or p['reserved_bytes'] or 0) > 0]
    at = 0
    for plan in shown[:3]:
        at = lines.index(plan['module'], at + 1)
        head = next((i for i in range(at, at + 8) if lines[i].split()[-1:] and 'instruction' in lines[i]), None)
        assert (head is not None) == bool(plan['live'])
        if head is None:
            continue
        columns = [m.span() for m in re.finditer(r'\S+( \S+)*', lines[head])]
        words = [lines[head][a:b] for a, b in columns]
        for b, line in zip(plan['live'][:5], lines[head + 1:]):
            cells = re.split(r' {2,}', line.strip())
            row = dict(zip(words, cells))
            assert is_cut_of(row['instruction'], b['instruction'])
            for word, key in (('scope', 'scope'), ('line', 'source')):
                assert word not in row or is_cut_of(row[word], b[key] or b['origin_' + key] or ''), line
            assert 'scope' in row or not any(x['scope'] or x['origin_scope'] for x in plan['live'])


# One run of each kind of device.
KINDS = {
    'tpu': 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb',
    'cuda': 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_08_24/cyclops.xplane.pb',
    'rocm': 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
    'jax_cpu': 'jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb',
}
LARGEST = {'tpu': 'jit_f', 'cuda': 'reactant_fn', 'rocm': 'jit_forward_3d_conv', 'jax_cpu': 'jit_train_step'}  # that ran


def human(n):
    """As the terminal writes bytes; the figure itself is the reference's."""
    power = 0 if n < 1024 else min((n.bit_length() - 1) // 10, 4)
    return f'{n} B' if not power else f"{n / 1024**power:.1f} {' KMGT'[power]}iB"


def plain(shape):
    """Without a layout that is row by row, which every array has unless it says otherwise."""
    array = re.fullmatch(r'([a-z0-9]+\[([0-9,]*)\])\{([0-9,]*)\}', shape)
    usual = array and array[3] == ','.join(map(str, reversed(range(len(array[2].split(','))))))
    return array[1] if usual else shape


def cells(line):
    return re.split(r' {2,}', line.strip())


@pytest.mark.parametrize('kind', KINDS)
def test_the_terminal_says_what_the_reference_computes(kind):
    """Of three programs: what the peak is, where, and its holders with scope and line."""
    read = list(reference_module().modules(str(trace(KINDS[kind]))))
    modules = [m.report() for m in read]
    whole = [(m['module'].partition('(')[0], s) for m in modules for s in m['spaces'].values()]
    names = {(i.op_name, i.source) for m in read for i in m.instrs.values()}
    done = view_profile('memory', '--top=5', '--color=never', str(trace(KINDS[kind])), env={**os.environ, 'COLUMNS': '400'})
    lines, sources = done.stdout.splitlines(), 0
    heads = [i for i, line in enumerate(lines) if line.startswith('Peak ')]
    assert len(heads) == 3 and lines[heads[0] - 1] == LARGEST[kind]
    for i in heads:
        peak, where = re.match(r'Peak (.*?) \(memory: [^)]*\)(?: at (\S+, event \d+ of \d+))?;', lines[i]).groups()
        want = next(s for name, s in whole if name == lines[i - 1] and human(s['peak']) == peak and
                    (not s.get('events') or f"{s['peak_instruction']}, event {s['peak_event']} of {s['events']}" == where))
        head = next(k for k in range(i, i + 4) if lines[k].lstrip().startswith('bytes '))
        for b, line in zip(want['live'][:5], lines[head + 1:]):
            row = dict(zip(cells(lines[head]), cells(line)))
            size, _, of, instruction, _, shape, scope, source = b[:8]
            assert (row['bytes'], row['kind'], row['instruction'], row['shape']) == (human(size), of, instruction, plain(shape))
            said = (row.get('scope', '-'), row.get('line', '-'))
            if scope:
                assert said == (scope, source or '-')
            elif said != ('-', '-'):  # of what it copies or fuses
                assert instruction.startswith(('copy', 'fusion', 'loop', 'wrapped', 'input')) or 'fusion' in instruction
                assert (said[0], said[1].replace('-', '') if said[1] == '-' else said[1]) in {(a, b or '') for a, b in names}
            sources += bool(source)
    assert sources >= 2


def named(module, instruction):
    """By operands: what a copy of the compiler's own copies."""
    at = next(i for i in module.instrs.values() if i.name == instruction.partition('{')[0])
    for _ in range(16):
        if at is None or at.op_name or at.opcode not in ('copy', 'copy-start', 'copy-done', 'convert', 'bitcast', 'reshape',
                                                         'transpose', 'get-tuple-element'):
            break
        at = module.instrs.get(at.operands[0])
    return at.op_name if at is not None else ''


@pytest.mark.parametrize('kind', KINDS)
def test_what_the_compiler_adds_is_given_to_what_it_copies_or_fuses(kind):
    """Else three quarters of the TPU's peak were nobody's: copies of arguments from the host."""
    modules = {m.report()['module']: m for m in reference_module().modules(str(trace(KINDS[kind])))}
    inner = {k: {i.op_name for i in m.instrs.values()} for k, m in modules.items()}
    found = 0
    for plan in report_of(KINDS[kind])['memory_static']:
        label = f"{plan['module']}({plan['program_id']})"
        for b in plan['live']:
            assert not (b['scope'] and b['origin_scope']), b
            if b['opcode'] in ('copy', 'copy-start') and not b['scope']:
                assert (b['origin_scope'] or '') == named(modules[label], b['instruction']) or b['origin_scope'] in inner[label]
                found += bool(b['origin_scope'])
            elif b['origin_scope']:
                assert b['opcode'] in ('fusion', 'bitcast', 'reshape', 'transpose', 'convert', 'get-tuple-element', 'copy-done')
                assert b['origin_scope'] in inner[label]
    if kind == 'tpu':
        live = [b for p in report_of(KINDS[kind])['memory_static'] if p['module'] == 'jit_f' and not p['space']
                for b in p['live'] if b['opcode'] == 'copy-start']
        assert found >= 3 and sorted(b['origin_scope'] for b in live) == ['ws[0]', 'ws[1]', 'ws[2]']


def points(polygon):
    return [tuple(map(int, p.split(','))) for p in polygon.split()]


@pytest.mark.parametrize('name', NAMES)
def test_areas_lie_on_each_other_and_reach_the_peak(name):
    page = memory(name, 'html')
    assert '<script' not in page
    shown = [p for p in report_of(name)['memory_static'] if (p['peak_bytes'] or p['reserved_bytes'] or 0) > 0][:8]
    drawn = [p for p in shown if len(p['sample_event']) > 1 and p['peak_bytes']
             and p['sample_event'][-1] > p['sample_event'][0]]
    pictures = re.findall(r'<svg class="areas".*?</svg>', page, re.S)
    assert len(pictures) == len(drawn)
    for plan, picture in zip(drawn, pictures):
        layers = [points(p) for p in re.findall(r'points="([^"]*)"', picture)]
        assert len(layers) == len(plan['layers'])
        n = len(plan['sample_event'])
        assert all(y == 1000 for _, y in layers[0][:n])
        for below, above in zip(layers, layers[1:]):
            assert above[:n] == below[n:][::-1]
        assert min(y for _, y in layers[-1]) == 0
        assert [html.escape(x['scope'] or 'no scope', quote=False).split('&')[0] in page for x in plan['layers']].count(False) == 0


def test_there_are_plans_to_show():
    assert any(p['live'] for f in FILES for p in report_of(f.relative_to(TRACES))['memory_static'])


def test_a_profile_without_memory_says_so(tmp_path):
    (tmp_path / 'none.trace.json').write_text('{"traceEvents":[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a"}]}')
    text = run(PROGRAM, 'memory', tmp_path / 'none.trace.json')[0].decode()
    assert 'No memory data in this profile' in text
