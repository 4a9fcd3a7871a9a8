"""What programs take of memory, as planned: equal to tools/memory_reference.py, an independent replay, to the byte, on
every profile that holds plans; and the figures of memory_mfu.md C."""
import importlib.util
import json
import sys

import pytest

from common import TRACES, reference_script, run, PROGRAM

FILES = sorted(p for p in TRACES.rglob('*.xplane.pb') if b'/host:metadata' in p.read_bytes())
NAMES = [str(p.relative_to(TRACES)) for p in FILES]
KINDS = {'parameter': 'parameter_bytes', 'output': 'output_bytes', 'constant': 'constant_bytes', 'temp': 'temp_bytes',
         'thread_local': 'stack_bytes'}


def plans(path):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', path)[0])['memory_static']


@pytest.fixture(scope='module')
def reference():
    tool = reference_script('memory_reference.py')
    sys.path.insert(0, str(tool.parent))
    spec = importlib.util.spec_from_file_location('memory_reference', tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def label(plan):
    return f"{plan['module']}({plan['program_id']})"


def of_module(rows):
    """the figures that the reference gives a module as a whole"""
    host = [r for r in rows if r['space'] == 5]
    device = [r for r in rows if r['space'] != 5]
    keys = {'argument': 'parameter_bytes', 'output': 'live_out_bytes', 'alias': 'alias_bytes', 'temp': 'temp_bytes'}
    stats = {k: sum(r[v] for r in device) for k, v in keys.items()}
    stats.update({f'host_{k}': sum(r[v] for r in host) for k, v in keys.items()})
    return stats


def live_rows(plan):
    return [[b['bytes'], b['unpadded_bytes'], b['kind'], b['instruction'], b['opcode'] or '', b['shape'], b['scope'] or '',
             b['source'] or '', b['first'], b['last']] for b in plan['live']]


def check_space(plan, want):
    assert {k: plan[v] for k, v in KINDS.items()} == want['bytes']
    assert plan['parameter_bytes'] + plan['output_bytes'] + plan['constant_bytes'] == want['fixed']
    assert plan['reserved_bytes'] == want['reserved']
    assert plan['heap_peak_bytes'] == want['heap_peak']
    assert plan['peak_bytes'] == want['peak']
    assert plan['peak_unpadded_bytes'] == want['peak_unpadded']
    assert plan['events'] == want['events']
    assert plan['peak_event'] == want.get('peak_event')
    assert (plan['peak_instruction'] or None) == want.get('peak_instruction')
    assert plan['fragmentation_bytes'] == want.get('fragmentation')
    assert plan['untraced_bytes'] == want.get('temp_outside_trace')
    assert live_rows(plan) == [list(r) for r in want['live']]


@pytest.mark.parametrize('name', NAMES)
def test_equal_to_the_reference(name, reference):
    try:
        modules = [m.report() for m in reference.modules(str(TRACES / name))]
    except Exception as e:
        pytest.skip(f'the reference reads intact files only: {e}')
    ours = {}
    for plan in plans(TRACES / name):
        ours.setdefault(label(plan), []).append(plan)
    assert set(ours) == {m['module'] for m in modules if m['spaces']}
    for m in modules:
        rows = {str(p['space']): p for p in ours.get(m['module'], [])}
        assert set(rows) == set(m['spaces'])
        for space, want in m['spaces'].items():
            check_space(rows[space], want)
        if not rows:
            continue
        assert of_module(rows.values()) == m['compiled_memory_stats']
        assert {p['xla_peak_bytes'] for p in rows.values()} == {m['xla_peak']}
        assert {p['remat_count'] for p in rows.values()} == {len(m['remat'])}
        given = [[d['bytes'], d['parameter'], d['parameter_number'], d['scope'] or '', d['output'], d['last_use'], d['born'],
                  d['also_scratch']] for p in rows.values() for d in p['donations']]
        assert sorted(given) == sorted([d['bytes'], d['parameter'], d['parameter_number'], d['op_name'], d['output'],
                                        d['last_use'], d['born'], d['also_scratch']] for d in m['donation'])


@pytest.mark.parametrize('name', NAMES)
def test_every_byte_of_a_peak_is_attributed(name):
    for plan in plans(TRACES / name):
        if plan['peak_bytes'] is not None:
            assert sum(b['bytes'] for b in plan['live']) == plan['peak_bytes']
            assert plan['peak_bytes'] <= plan['reserved_bytes']
        sums = [sum(layer['bytes'][i] for layer in plan['layers']) for i in range(len(plan['sample_event']))]
        assert not sums or max(sums) == plan['peak_bytes']


# memory_mfu.md C: module → space → fixed, heap peak, peak, reserved, position, instruction
GOLDENS = {
    'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb': {
        ('jit_f', 0): (32, 21474836480, 21474836512, 21474934816, 3, 'broadcast_add_fusion.2'),
        ('jit_f', 5): (16106127360, 0, 16106127360, 16106127360, None, None),
        ('jit__psum', 0): (10737418240, 0, 10737418240, 10737418240, None, None),
    },
}


@pytest.mark.parametrize('name', [n for n in GOLDENS if n in NAMES])
def test_goldens(name):
    found = {(p['module'], p['space']): p for p in plans(TRACES / name)}
    for key, (fixed, heap, peak, reserved, at, instruction) in GOLDENS[name].items():
        p = found[key]
        assert (p['peak_bytes'] - p['heap_peak_bytes'], p['heap_peak_bytes'], p['peak_bytes'], p['reserved_bytes'],
                p['peak_event'], p['peak_instruction']) == (fixed, heap, peak, reserved, at, instruction)
