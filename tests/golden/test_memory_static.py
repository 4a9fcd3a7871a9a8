"""What programs take of memory, as planned: equal to tools/memory_reference.py, an independent replay, to the byte, on
every profile that holds plans; and the figures of
docs/reference/memory-and-mfu.md#figures-of-memory."""
import importlib.util
import json
import sys

import pytest

import identities
from common import PROGRAM, TRACES, reference_script, run, trace

FILES = sorted(p for p in TRACES.rglob('*.xplane.pb') if b'/host:metadata' in p.read_bytes())
NAMES = [str(p.relative_to(TRACES)) for p in FILES]
KINDS = {'parameter': 'parameter_bytes', 'output': 'output_bytes', 'constant': 'constant_bytes', 'temp': 'temp_bytes',
         'thread_local': 'stack_bytes'}


def plans(path):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', path)[0])['memory_static']


def reference_module():
    tool = reference_script('memory_reference.py')
    sys.path.insert(0, str(tool.parent))
    spec = importlib.util.spec_from_file_location('memory_reference', tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope='module')
def reference():
    return reference_module()


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
    made = json.loads(run(PROGRAM, 'report', '--format', 'json', TRACES / name)[0])
    identities.check_plans(made)
    assert not [q for q in made['quality'] if q['code'] in ('memory-plan', 'hlo-damaged')]


def row(module, space, fixed, heap, peak, reserved, at=None, instruction=None, program=None):
    return module, space, program, (fixed, heap, peak, reserved, at, instruction)


JAX, ROCM = 'jax_cpu/{}/vm.xplane.pb', 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/{}/tw003.xplane.pb'
REACTANT = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/{}/cyclops.xplane.pb'
SMALL = row('reactant_fn', 0, 6168, 0, 6168, 6192)
STEP = row('jit_train_step', 0, 2283152, 327680, 2610832, 2610832, 16, 'dot.1', 28)

# docs/reference/memory-and-mfu.md#figures-of-memory, XProf's own figures: file → modules: space,
# fixed, heap peak, peak, reserved, position, instruction
GOLDENS = {
    'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb': [
        row('jit_f', 0, 32, 21474836480, 21474836512, 21474934816, 3, 'broadcast_add_fusion.2'),
        row('jit_f', 5, 16106127360, 0, 16106127360, 16106127360),
        row('jit_f', 2, 0, 12, 12, 12, 2, 'copy-start.4'),
        row('jit__psum', 0, 10737418240, 0, 10737418240, 10737418240),
        row('jit_broadcast_in_dim', 0, 5368709632, 0, 5368709632, 5368709632),
        row('jit_broadcast_in_dim', 6, 0, 512, 512, 512, 0, 'copy'),
        row('jit_convert_element_type', 0, 1024, 0, 1024, 1024)],
    ROCM.format('jax_conv_minimal_08'): [
        row('jit_forward_3d_conv', 0, 579072000, 579072000, 1158144000, 1158144256, 2, 'cudnn-conv.1', 15)],
    ROCM.format('jax08_gemm'): [row('jit_dot', 0, 268435456, 79691776, 348127232, 348127488, 0, 'custom-call.1', 49)],
    ROCM.format('jax08_elementwise'): [
        row('jit__normal', 0, 134217736, 32852, 134250588, 134251788, 6, 'loop_multiply_fusion', 9),
        row('jit__reduce_sum', 0, 134217730, 32768, 134250498, 134250498, 0, 'input_reduce_fusion', 32)],
    REACTANT.format('2025_02_05_11_05_24'): [SMALL],
    REACTANT.format('2025_02_05_11_08_24'): [SMALL],
    JAX.format('mnist_train/plugins/profile/2026_11_21_06_33_16'): [STEP],
    JAX.format('three_runs/plugins/profile/2026_11_21_06_34_00'): [STEP],
    JAX.format('three_runs/plugins/profile/2026_11_21_06_34_02'): [
        row('jit_train_step', 0, 2283152, 7214080, 9497232, 9497232, 11, 'dot', 30)],
    'jax_cpu/server_capture/plugins/profile/2026_11_21_06_36_02/127.0.0.1_9012.xplane.pb': [
        row('jit_train_step', 0, 3488912, 1331200, 4820112, 4820112, 10, 'ynn_fusion.4', 28)],
    JAX.format('python_tracer_small/plugins/profile/2026_11_21_06_33_31'): [
        row('jit__normal', 0, 802868, 2408516, 3211384, 3212088, 64, 'broadcast_add_fusion', 8)],
    JAX.format('multi_device/plugins/profile/2026_11_21_06_33_21'): [
        row('jit_body', 0, 131076, 786432, 917508, 917572, 20, 'all-to-all', 6)],
    JAX.format('recompile/plugins/profile/2026_11_21_06_33_18'): [
        row('jit_changing_shape', 0, 8196, 4096, 12292, 12292, 0, 'ynn_fusion', 16)],
}
# … and sums over a file's modules: modules, then of space 0 fixed, heap peak, peak, reserved; XLA's peak, donations
SUMS = {
    'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb': (
        4, 16106128928, 21474836480, 37580965408, 37581063712, 53687093792, 512),
    ROCM.format('jax_conv_minimal_08'): (8, 733081804, 579072004, 1312153808, 1312154064, 1312153808, 4),
    ROCM.format('jax08_elementwise'): (16, 2684747886, 196692, 2684944578, 2684945778, 2684944578, 939589636),
    ROCM.format('jax08_gemm'): (16, 906493974, 260046848, 1166540822, 1166542102, 1166540822, 35782658),
    REACTANT.format('2025_02_05_11_08_24'): (3, 18504, 0, 18504, 18576, 18504, 4608),
    JAX.format('mnist_train/plugins/profile/2026_11_21_06_33_16'): (
        15, 5102108, 3145008, 8247116, 8250092, 8247116, 1879600),
    JAX.format('three_runs/plugins/profile/2026_11_21_06_34_02'): (
        15, 5102108, 10031408, 15133516, 15136492, 15133516, 1879600),
    'jax_cpu/server_capture/plugins/profile/2026_11_21_06_36_02/127.0.0.1_9012.xplane.pb': (
        15, 6307868, 4148528, 10456396, 10459372, 10456396, 1879600),
    JAX.format('python_tracer_small/plugins/profile/2026_11_21_06_33_31'): (
        16, 7184300, 3308848, 10493148, 10496124, 10493148, 2820184),
    JAX.format('multi_device/plugins/profile/2026_11_21_06_33_21'): (4, 1704016, 786432, 2490448, 2490512, 2490448, 65540),
    JAX.format('recompile/plugins/profile/2026_11_21_06_33_18'): (9, 41000, 7680, 48680, 48680, 48680, 4),
    JAX.format('async_dispatch/plugins/profile/2026_11_21_06_34_56'): (7, 5603340, 0, 5603340, 5603340, 5603340, 1179652),
}


def fixed_of(p):
    return p['parameter_bytes'] + p['output_bytes'] + p['constant_bytes']


@pytest.mark.parametrize('name', GOLDENS)
def test_goldens(name):
    found = plans(trace(name))
    for module, space, program, want in GOLDENS[name]:
        mine = [p for p in found if (p['module'], p['space']) == (module, space) and program in (None, p['program_id'])]
        assert mine
        for p in mine:
            assert (fixed_of(p), p['heap_peak_bytes'], p['peak_bytes'], p['reserved_bytes'], p['peak_event'],
                    p['peak_instruction'] or None) == want


@pytest.mark.parametrize('name', SUMS)
def test_sums_of_a_file(name):
    found = plans(trace(name))
    main = [p for p in found if p['space'] == 0]
    first = {p['program_id']: p for p in found}
    assert (len(first), sum(map(fixed_of, main)), *(sum(p[k] for p in main) for k in (
        'heap_peak_bytes', 'peak_bytes', 'reserved_bytes')), sum(p['xla_peak_bytes'] for p in first.values()),
        sum(p['donation_bytes'] for p in found)) == SUMS[name]
