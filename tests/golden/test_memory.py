"""The golden figures of docs/reference/memory-and-mfu.md#figures-of-memory: what allocators had in
use, when that was first, and who held it."""
import gzip
import json

import pytest

from common import report, trace, view_profile
from xplane_events import Space

ROCM = 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/'
LENS = 'AMD-AGI__TraceLens/'
XPLANES = [  # file, allocator, events, peak, first reached (ps after the plane's zero), lifetime, capacity
    ('jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb', [
        ('memory 0', 234, 21492569216, 19503410096000, 16106341504, 33550237696),
        ('memory 1', 224, 21492671104, 15663376345000, 10737555584, 33550237696),
        ('memory 2', 224, 21492671104, 17280835901000, 10737555584, 33550237696),
        ('memory 3', 224, 21492569216, 19503407656000, 10737555584, 33550237696)]),
    (ROCM + 'jax08_gemm/tw003.xplane.pb', [('GPU_0_bfc', 138, 482345216, 5622178000, 738197504, 154606239744)]),
    (ROCM + 'jax08_elementwise/tw003.xplane.pb',
     [('GPU_0_bfc', 150, 671286528, 7212859000, 671286528, 154606239744)]),
    (ROCM + 'jax_conv_minimal_08/tw003.xplane.pb', [
        ('GPU_0_bfc', 20, 1730171904, 45267460000, 1730171904, 154606239744),
        ('GPU_5_bfc', 30, 1732169984, 46855542000, 1732169984, 154606239744)]),
    ('tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb', [
        ('GPU_6_bfc', 969, 6210111488, 2587153828000, 6210111488, 15477102400),
        ('GPU_4_bfc', 969, 6208853760, 1938600973000, 6208853760, 15477102400)]),
    ('xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb', [
        ('GPU_0_bfc', 7, 11264, 117237910000, 11264, 8780660736),
        ('GPU_1_bfc', 7, 8192, 117590262000, 8192, 8780660736)]),
]
KINETO = [  # file, allocator, events, Σ alloc, peak, most reserved, end
    ('pytorch_cuda/' + LENS + 'h100/Falconsai_nsfw_image_detection__1016002.json.gz', 'GPU 0', 572, 362563072, 231332864,
     245366784, 214877184),
    ('pytorch_cuda/' + LENS + 'h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz', 'GPU 0', 1206,
     86321299456, 4490752000, 4588568576, 287697408),
    ('pytorch_rocm/' + LENS + 'mi300/Falconsai_nsfw_image_detection__1016002.json.gz', 'GPU 0', 620, 6101963776,
     272628736, 291504128, 181322752),
    ('pytorch_rocm/' + LENS + 'mi300/google_owlv2-large-patch14-ensemble__1016001.json.gz', 'GPU 0', 13060,
     366928427520, 2808510976, 2973761536, 1018108416),
]


def allocators(path):
    return {m['allocator']: m for m in report(path)['memory']['allocators']}


@pytest.mark.parametrize('path,rows', XPLANES)
def test_allocators_of_xplanes(path, rows):
    found = allocators(path)
    for name, events, peak, first, lifetime, capacity in rows:
        m = found[name]
        assert (m['allocations'] + m['frees'], m['peak_bytes'], m['peak_start_ps'], m['lifetime_peak_bytes'],
                m['total_bytes']) == (events, peak, first, lifetime, capacity)
        assert sum(t['bytes'] for t in m['top']) == peak


@pytest.mark.parametrize('path,name,events,taken,peak,reserved,end', KINETO)
def test_allocators_of_kineto(path, name, events, taken, peak, reserved, end):
    m = allocators(path)[name]
    assert (m['allocations'] + m['frees'], m['allocated_bytes'], m['peak_bytes'], m['reserved_peak_bytes'],
            m['end_bytes']) == (events, taken, peak, reserved, end)
    assert sum(t['bytes'] for t in m['top']) == peak


@pytest.mark.parametrize('path,name', [(k[0], k[1]) for k in KINETO])
def test_reserved_over_time_is_what_the_events_say(path, name):
    """Each point of the curve is an event, with what it says of in use and of reserved."""
    m = allocators(path)[name]
    with gzip.open(trace(path)) as f:
        events = [e['args'] for e in json.load(f)['traceEvents'] if e.get('name') == '[memory]']
    said = {(a['Total Allocated'], a['Total Reserved']) for a in events if a['Device Type'] != 0}
    points = list(zip(m['sample_bytes'], m['sample_reserved_bytes']))
    assert len(points) == len(m['sample_start_ps']) >= 20 and set(points) <= said
    assert m['peak_bytes'] in m['sample_bytes']
    assert dict(points)[m['peak_bytes']] == m['reserved_bytes'] == max(r for a, r in said if a == m['peak_bytes'])


def test_pieces_over_time_are_shares_of_what_is_free():
    m = allocators(XPLANES[1][0])['GPU_0_bfc']
    said = {(s['bytes_reserved'] + s['bytes_allocated'], int(s['fragmentation'] * s['bytes_available']))
            for _, line in Space(trace(XPLANES[1][0]).read_bytes()).lines() for *_, s in line.raw
            if s.get('allocator_name') == 'GPU_0_bfc'}
    points = set(zip(m['sample_bytes'], m['sample_fragmented_bytes']))
    assert len(points) > 40 and points <= said and m['fragmented_bytes'] == dict(points)[m['peak_bytes']] > 0


def test_static_meets_dynamic():
    """BFC's sizes are those of the module's output and temporary allocation; the TPU's stack is its arena and 16 MiB."""
    conv = allocators(ROCM + 'jax_conv_minimal_08/tw003.xplane.pb')['GPU_0_bfc']
    assert {572026880, 579072256} <= {t['bytes'] for t in conv['top']}
    tpu = allocators(XPLANES[0][0])['memory 0']
    assert tpu['top'][0]['name'] == 'stack' and tpu['top'][0]['bytes'] == 21474934784 + (16 << 20)


def test_holders_are_named_by_op_module_and_line():
    """An attention's scores and their softmax, of one layer, in one step."""
    top = allocators(KINETO[1][0])['GPU 0']['top']
    for op in ('aten::bmm', 'aten::mul'):
        assert any(t['name'] == op and t['bytes'] == 1889533952 and t['scope'] == 'TimesformerSelfAttention_3'
                   and t['source'].endswith('pipeline/model.py(40): run_on_input') and t['step'] == 6 for t in top)
    top = allocators(XPLANES[4][0])['GPU_4_bfc']['top']
    assert top[0]['scope'].endswith('word_embeddings/GatherV2/Cast') or top[0]['name'].startswith('(allocated before')


def compared(a, b):
    done = view_profile('compare', '--format=json', str(trace(a)), str(trace(b)))
    assert done.returncode == 0, done.stderr
    return {m['allocator']: m for m in json.loads(done.stdout)['memory']}


def test_peaks_are_compared_holder_by_holder():
    """An MI300X's scratch of hipBLASLt, 79,691,776 bytes, is not there on an H100; what holds the rest sums exactly."""
    mi300, h100 = KINETO[2][0], KINETO[0][0]
    there = compared(mi300, h100)['GPU 0']
    assert (there['a_bytes'], there['b_bytes'], there['delta_bytes']) == (272628736, 231332864, 231332864 - 272628736)
    assert sum(h['delta_bytes'] for h in there['holders']) == there['delta_bytes']
    assert (there['holders'][0]['name'], there['holders'][0]['delta_bytes']) == ('aten::empty', -79691776)
    back = compared(h100, mi300)['GPU 0']
    assert back['delta_bytes'] == -there['delta_bytes']
    assert {(h['name'], h['scope'], h['source']): -h['delta_bytes'] for h in back['holders']} == \
        {(h['name'], h['scope'], h['source']): h['delta_bytes'] for h in there['holders']}


def holders(made, allocator):
    return next(m for m in made['memory']['allocators'] if m['allocator'] == allocator)['top']


def test_allocations_are_joined_with_the_plans_that_asked_for_them():
    """By size and call: what was requested in the conv file are the two blocks of its program's plan, and a TPU's stack is
    the temporaries of one program and 16 MiB (docs/reference/memory-and-mfu.md#four-peaks)."""
    made = report('jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08')
    plan = next(m for m in made['memory_static'] if m['module'] == 'jit_forward_3d_conv')
    assert (plan['temp_bytes'], plan['output_bytes']) == (579072256, 572026880)
    for i in range(8):
        told = {t['planned']: t['bytes'] // t['count'] for t in holders(made, f'GPU_{i}_bfc') if t['planned']}
        assert told == {'jit_forward_3d_conv: temporaries': 579072256,
                        'jit_forward_3d_conv: result input_transpose_fusion': 572026880}
    made = report('jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb')
    stack = holders(made, 'memory 0')[0]
    assert (stack['name'], stack['bytes'] - (16 << 20), stack['planned']) == ('stack', 21474934784, 'jit_f: temporaries')
    made = report('jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm')
    for t in holders(made, 'GPU_0_bfc'):
        if t['planned']:
            module, part = t['planned'].split(': ')
            key = 'temp_bytes' if part == 'temporaries' else 'output_bytes'
            assert any(p['module'] == module and p[key] == t['bytes'] // t['count'] for p in made['memory_static'] if p['ran'])
    # without plans there is nothing to join
    assert not any(t['planned'] for m in report('pytorch_rocm/AMD-AGI__TraceLens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz')
                   ['memory']['allocators'] for t in m['top'])
