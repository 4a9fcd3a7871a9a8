"""The rows of docs/reference/metrics.md#sample-profiles: breakdowns, categories and the op table.

TPU figures are on the device's own clock, to the picosecond; the others are printed to a
tenth of a microsecond and to two decimals, and must round to what stands there."""
import json
import os

import pytest

from common import report, trace, view_profile

V2 = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
VLLM = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/'
VLLM_11 = VLLM + '2026_01_11_21_26_41/t1v-n-9eb622fc-w-0.trace.json.gz'
VLLM_12 = VLLM + '2026_01_12_00_26_20/t1v-n-9eb622fc-w-0.trace.json.gz'
RESNET = 'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.16231'
HTA_TEST = 'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/trace_diff/test/test.json.gz'


def row(path, device, events, window, busy, idle, compute, comm, exposed_comm, copy, exposed_copy):
    b = {'window_ps': window, 'compute_ps': compute, 'exposed_comm_ps': exposed_comm,
         'exposed_copy_ps': exposed_copy, 'idle_ps': idle, 'busy_ps': busy, 'comm_ps': comm, 'copy_ps': copy,
         'overlap_comm_ps': comm - exposed_comm}
    return pytest.param(path, device, events, b, id=f'{path.rsplit("/", 1)[1]}-{device}')


def us(*figures):
    return [f * 10**6 for f in figures]


ROWS = [
    row(RESNET + '43089861.pt.trace.json.gz', 'GPU 0', 9096,
        *us(996477, 603558, 392919, 591532, 0, 0, 12026, 12026)),
    row(RESNET + '43566756.pt.trace.json.gz', 'GPU 0', 9096,
        *us(876066, 602145, 273921, 591209, 0, 0, 10936, 10936)),
    row(HTA_TEST, 'GPU 1', 15632, *us(745239, 717943, 27296, 548148, 251341, 73298, 156797, 96497)),
    row(V2, '/device:TPU:0', 1504, 92475685460000, 78783723903750, 13691961556250, 2409145078750,
        365061093750, 365061093750, 76009517731250, 76009517731250),
    row(V2, '/device:TPU:1', 1503, 90428220550000, 78788304606250, 11639915943750, 2404046932500,
        365097730000, 365097730000, 76019159943750, 76019159943750),
    row(V2, '/device:TPU:2', 1503, 90420790792500, 78780797327500, 11639993465000, 2404978770000,
        365074090000, 365074090000, 76010744467500, 76010744467500),
    row(V2, '/device:TPU:3', 1503, 90405001966250, 78765077868750, 11639924097500, 2406166622500,
        365112345000, 365112345000, 75993798901250, 75993798901250),
    row(VLLM_11, '/device:TPU:0', 3454, 67234949579, 67209386199, 25563380, 63761837723,
        3438250901, 3438250900, 9297611, 9297576),
    row(VLLM_11, '/device:TPU:1', 3454, 67235345738, 67206929977, 28415761, 63739392313,
        3458381758, 3458381757, 9155946, 9155907),
    row(VLLM_12, '/device:TPU:0', 4682, 65748357743, 65722837391, 25520352, 61521886809,
        4191624251, 4191624222, 9326403, 9326360),
    row(VLLM_12, '/device:TPU:1', 4682, 65748693877, 65719868641, 28825236, 61435126931,
        4275472996, 4275472963, 9268806, 9268747),
]


@pytest.mark.parametrize('path,device,events,breakdown', ROWS)
def test_row(path, device, events, breakdown):
    made = report(path, '--group=category')
    mine, = [d for d in made['devices'] if d['name'] == device]
    assert mine['events'] == events
    assert mine['breakdown'] == breakdown
    assert made['window']['clock'] == ('device' if 'TPU' in device else 'aligned')
    assert made['window']['policy'] == 'device'


@pytest.mark.parametrize('path', [V2, VLLM_11, VLLM_12, HTA_TEST])
def test_no_other_device(path):
    names = [d['name'] for d in report(path, '--group=category')['devices']]
    assert sorted(names) == sorted(p.values[1] for p in ROWS if p.values[0] == path)


def test_device_stats_of_the_json_overlap_by_a_few_ps():
    """2026_01_11 TPU:0: Σ durations is 175 ps above busy."""
    ops = [o for o in report(VLLM_11, '--group=category')['ops'] if o['device'] == '/device:TPU:0']
    assert sum(o['total_ps'] for o in ops) == 67209386374
    assert sum(o['self_ps'] for o in ops) == 67209386199


COPY_DONE = [  # device, host → device (copy-done, .2, .4), device → host (.1, .3, .5); 300 calls each
    ('/device:TPU:0', 57773261490000, 18236253981250),
    ('/device:TPU:1', 57782902852500, 18236254841250),
    ('/device:TPU:2', 57774489143750, 18236253108750),
    ('/device:TPU:3', 57756373577500, 18237423067500),
]


@pytest.mark.parametrize('device,h2d,d2h', COPY_DONE)
def test_copy_done_by_direction(device, h2d, d2h):
    ops = {o['name']: o for o in report(V2, '--group=raw')['ops'] if o['device'] == device}
    for names, total in ((('copy-done', 'copy-done.2', 'copy-done.4'), h2d),
                         (('copy-done.1', 'copy-done.3', 'copy-done.5'), d2h)):
        assert sum(ops[n]['total_ps'] for n in names) == total
        assert sum(ops[n]['calls'] for n in names) == 300


# docs/reference/metrics.md#sample-profiles: category, µs to a tenth, events (None: not given
# there), on TPU:0
CATEGORIES_11 = [
    ('convolution fusion', 42308.7, 257), ('custom-call', 17013.5, 190), ('all-reduce', 3433.8, 129),
    ('loop fusion', 2636.5, 654), ('data formatting', 1461.7, 450), ('slice', 148.9, None),
    ('custom fusion', 95.0, None), ('pad', 90.9, None), ('copy-done', 6.6, 408), ('all-gather', 4.5, None),
    ('async-start', 2.9, None), ('copy-start', 2.7, None), ('async-done', 2.2, None), ('broadcast', 1.6, None),
]
SHARES_11 = [('convolution fusion', 63.0), ('custom-call', 25.3), ('all-reduce', 5.1), ('loop fusion', 3.9),
             ('data formatting', 2.2)]
CATEGORIES_12 = [
    ('custom-call', 46048.0, None), ('loop fusion', 11796.9, None), ('all-reduce', 3535.9, 129),
    ('data formatting', 2958.2, None), ('all-to-all', 651.5, None), ('reduce', 325.7, None),
]


def categories(path):
    return [o for o in report(path, '--group=category')['ops'] if o['device'] == '/device:TPU:0']


@pytest.mark.parametrize('path,table,all_of_it', [(VLLM_11, CATEGORIES_11, True), (VLLM_12, CATEGORIES_12, False)])
def test_category_table(path, table, all_of_it):
    rows = categories(path)
    if not all_of_it:
        rows = rows[:len(table)]
    got = [(o['name'], round(o['self_ps'] / 1e6, 1)) for o in rows]
    assert got == [(name, us_) for name, us_, _ in table]
    assert {o['name']: o['calls'] for o in rows}.items() >= {n: c for n, _, c in table if c}.items()
    assert all(o['name'] == o['category'] for o in rows)


def test_category_shares():
    shares = {o['name']: round(100 * o['self_share_of_ops'], 1) for o in categories(VLLM_11)}
    assert [(name, shares[name]) for name, _ in SHARES_11] == SHARES_11
    custom_call = categories(VLLM_12)[0]
    assert round(100 * custom_call['self_share_of_ops'], 1) == 70.1


def test_names_of_2_3_and_2_4():
    first = [o for o in report(VLLM_11)['ops'] if o['device'] == '/device:TPU:0']
    rpa, = [o for o in first if o['name'] == 'RPA-bq_32-bkvp_64-p_64-']
    assert (rpa['category'], rpa['calls']) == ('custom-call', 64)
    raw = [o for o in report(VLLM_12, '--group=raw')['ops'] if o['device'] == '/device:TPU:0']
    psum = [o for o in raw if o['category'] == 'all-reduce' and o['name'].startswith('psum')]
    assert sum(o['calls'] for o in psum) == 128
    assert {o['class'] for o in psum} == {'communication'}  # by category: the name does not say so
    assert len({o['name'] for o in raw}) == 4674
    split = {o['category']: o['calls'] for o in first if o['name'] == 'fusion'}
    assert split == {'convolution fusion': 129, 'loop fusion': 68, 'custom fusion': 3}


def test_the_fusion_of_5_1_comes_apart():
    """CV 0.73 over three ops: one shape in two memory spaces, which takes 213.7 and 40.0 us in the mean (one
    call of each takes what those of the other take), and a call of another module. By shape_with_layout,
    device_duration_ps sums to 13,678,565,427, 2,562,402,162 and 290,270,108 in the file; next ops that begin
    some ps early take 11 of them."""
    row, = [o for o in report(VLLM_11)['ops'] if (o['device'], o['category'], o['name']) ==
            ('/device:TPU:0', 'convolution fusion', 'fusion')]
    assert round(row['stddev_ps'] / row['mean_ps'], 2) == 0.73
    assert [(s['label'], s['calls'], s['self_ps']) for s in row['splits']] == [
        ('bf16[1024,5120]{1,0:T(8,128)(2,1)S(1)}', 64, 13678565419),
        ('bf16[1024,5120]{1,0:T(8,128)(2,1)}', 64, 2562402159),
        ('bf16[8,76032]', 1, 290270108)]
    assert row['total_ps'] == 13678565427 + 2562402162 + 290270108 == row['self_ps'] + 11


def test_a_row_stands_where_most_of_its_time_does():
    """98 % of this fusion is RowParallelLinear; its longest call alone, 290 us, is of compute_logits_func.
    The all-reduces are 128 of RowParallelLinear and one of the embedding, on both devices."""
    rows = [o for o in report(VLLM_11)['ops'] if (o['category'], o['name']) in
            (('convolution fusion', 'fusion'), ('all-reduce', 'all-reduce'))]
    assert len(rows) == 4
    for o in rows:
        assert '/RowParallelLinear/' in o['scope'] and 'jtorch.py:528' not in (o['source'] or ''), o
        assert o['scopes'] == 2 and o['module'].startswith('jit_step_fun'), o
    page = view_profile('report', '--format=html', str(trace(VLLM_11))).stdout
    row = page[page.index('class="name"><bdi>fusion</'):]
    assert '/RowParallelLinear/' in row[:row.index('</th>')]
    assert '>+1 more</span>' in row[:row.index('</th>')]


SAMPLE = """
   22.222  33.06%  33.06%     64    347.22    347.72    393.69  0.02  convolution fusion  convolution_bitcast_fusion
   17.013  25.31%  58.38%     64    265.83    272.11    272.29  0.02  custom-call         RPA-bq_32-bkvp_64-p_64-
   16.531  24.60%  82.97%    129    128.15    220.27    290.27  0.73  convolution fusion  fusion
    3.556   5.29%  88.26%     64     55.56     55.92     56.98  0.01  convolution fusion  add_bitcast_fusion
    3.434   5.11%  93.37%    129     26.62     27.64     65.27  0.13  all-reduce          all-reduce
    1.390   2.07%  95.44%    128     10.86     14.32     14.54  0.27  loop fusion         multiply_reduce_fusion
    1.014   1.51%  96.95%    258      3.93      5.11     10.16  0.22  data formatting     copy
    0.661   0.98%  97.94%     64     10.33     10.34     10.40  0.00  loop fusion         copy_bitcast_fusion
"""


def test_sample_table():
    """Section 5: every figure of the eight rows that it prints, and the line above them."""
    shown = view_profile('top', '--device=TPU:0', str(trace(VLLM_11)),
                         env={**os.environ, 'COLUMNS': '160'}).stdout.splitlines()
    assert 'window 67.235 ms (first..last op' in shown[0] and 'busy 99.96%' in shown[0]
    assert shown[1].startswith('Showing 9 of 30 groups, 66.269 ms, 98.60% of 67.209 ms ')
    assert '21 groups below 0.5% hidden' in shown[1]
    assert [line.split() for line in shown[3:11]] == [line.split() for line in SAMPLE.strip().splitlines()]


def test_sample_table_in_json():
    """The same rows from the JSON, by its own definitions: mean, nearest-rank p95, population CV."""
    top = json.loads(view_profile('top', '--format=json', '--device=TPU:0', '--top=8', str(trace(VLLM_11))).stdout)
    for o, want in zip(top['ops'], (line.split() for line in SAMPLE.strip().splitlines()), strict=True):
        assert [f'{o["self_ps"] / 1e9:.3f}', f'{100 * o["self_share_of_ops"]:.2f}%',
                f'{100 * o["cumulative_share"]:.2f}%', str(o['calls']), f'{o["mean_ps"] / 1e6:.2f}',
                f'{o["p95_ps"] / 1e6:.2f}', f'{o["max_ps"] / 1e6:.2f}',
                f'{o["stddev_ps"] / o["mean_ps"]:.2f}'] == want[:8]


def test_modules_of_the_tpu_run():
    """Line `XLA Modules`: jit_f ran 100 times on each of four chips (aligned clock)."""
    runs = {m['name']: m['runs'] for m in report(V2, '--group=raw')['modules']}
    assert runs == {'jit_f': 400, 'jit__psum': 12, 'jit_broadcast_in_dim': 1, 'jit_convert_element_type': 1}
