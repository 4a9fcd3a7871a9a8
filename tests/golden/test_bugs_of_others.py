"""The tables of docs/reference/metrics.md#differences-from-other-tools: where other tools give
wrong figures or classes, we give those of the right column. Hand-made Kineto events in µs."""
import json
import random

import pytest

from common import view_profile

US = 10**6


def kernel(ts, dur, name='gemm', stream=7, cat='kernel', **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 0, 'tid': stream, 'ts': ts, 'dur': dur,
            'args': {'device': 0, 'stream': stream, **args}}


def host(ts, dur, name, cat='cpu_op', **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 9, 'tid': 9, 'ts': ts, 'dur': dur, 'args': args}


@pytest.fixture(name='made')
def report_of(tmp_path):
    def make(events, *options):
        path = tmp_path / 'made.pt.trace.json'
        path.write_text(json.dumps({'traceEvents': events}), encoding='utf-8')
        return json.loads(view_profile('report', '--format=json', *options, str(path)).stdout)

    return make


def breakdown(report):
    device, = report['devices']
    return {k[:-3]: v // US for k, v in device['breakdown'].items()}


def test_hta_mean_min_max_of_more_than_ten_names(made):
    """HTA: mean = max = min = 120."""
    events = [kernel(100 * i, dur, 'k_a') for i, dur in enumerate((50, 60, 10))]
    events += [kernel(1000 + 100 * i, 5, 'other_' + 'abcdefghijkl'[i]) for i in range(12)]
    row, = [o for o in made(events)['ops'] if o['name'] == 'k_a']
    assert [row[k] // US for k in ('mean_ps', 'max_ps', 'min_ps', 'total_ps')] == [40, 60, 10, 120]


def test_hta_rounding_to_microseconds(made):
    """HTA floors to whole µs: events below one have no length."""
    events = [kernel(10 * i + .25, .75, cat='kernel') for i in range(100)]
    assert made(events)['devices'][0]['breakdown']['busy_ps'] == 75 * US


def test_hta_negative_gaps(made):
    """HTA sums −3 where ops of a stream overlap: no gap is there."""
    report = made([kernel(0, 13), kernel(10, 10), kernel(30, 10)])
    assert [g['dur_ps'] for g in report['gaps']] == [10 * US]


def test_tb_plugin_steps_of_two_hundred_percent(made):
    """Step [0, 100) with a kernel over all of it, a copy and operators: 100 + 10 + 80 + 10 = 200 there."""
    report = made([host(0, 100, 'ProfilerStep#1', 'user_annotation'), host(5, 80, 'aten::mm'),
                   host(6, 1, 'cudaLaunchKernel', 'cuda_runtime', correlation=1),
                   host(8, 1, 'cudaMemcpyAsync', 'cuda_runtime', correlation=2),
                   kernel(0, 100, correlation=1),
                   kernel(20, 10, 'Memcpy HtoD (Pinned -> Device)', 8, 'gpu_memcpy', correlation=2)])
    step, = report['steps']['list']
    b = {k: v // US for k, v in step['breakdown'].items()}
    assert (b['window_ps'], b['compute_ps'], b['exposed_copy_ps'], b['idle_ps'], b['copy_ps']) == (100, 100, 0, 0, 10)


def test_nsys_jax_hides_more_than_there_is(made):
    """Communication [0, 10) under compute [0, 9) and [1, 10): hidden 10, exposed 0; 18 and −8 there."""
    b = breakdown(made([kernel(0, 10, 'ncclDevKernel_AllReduce', 20), kernel(0, 9), kernel(1, 9, stream=8)]))
    assert (b['comm'], b['overlap_comm'], b['exposed_comm']) == (10, 10, 0)


def test_idle_of_a_whole_gap(made):
    """A3: gap [70, 90), launch [84, 88): host 14, call 4, latency 2. HTA files all 20 under host_wait."""
    report = made([host(0, 1, 'cudaLaunchKernel', 'cuda_runtime', correlation=1), kernel(10, 60, correlation=1),
                   host(84, 4, 'cudaLaunchKernel', 'cuda_runtime', correlation=2), kernel(90, 5, correlation=2)])
    gap, = report['gaps']
    assert [gap[k] // US for k in ('dur_ps', 'host_late_ps', 'in_call_ps', 'latency_ps')] == [20, 14, 4, 2]


def test_unlinked_kernels_count(made):
    """TraceLens drops kernels it cannot link to an operator: idle 59 instead of 4 %."""
    b = breakdown(made([kernel(10 * i, 9, correlation=i) for i in range(10)]))
    assert (b['window'], b['busy'], b['idle']) == (99, 90, 9)


def test_the_last_step_counts(made):
    """HTA drops the last ProfilerStep and with it its time."""
    events = []
    for i in range(3):
        events += [host(100 * i, 100, f'ProfilerStep#{i}', 'user_annotation'),
                   host(100 * i + 5, 5, 'cudaLaunchKernel', 'cuda_runtime', correlation=i + 1),
                   kernel(100 * i + 20, 80, correlation=i + 1)]
    report = made(events)
    assert breakdown(report)['busy'] == 240 and report['steps']['count'] == 3


CLASSES = [  # name, class, Kineto's category
    ('hipblaslt_gemm_f16', 'compute', 'kernel'), ('rcclGenericKernel', 'communication', 'kernel'),
    ('all-reduce-start.1', 'communication', 'kernel'), ('all-gather.3', 'communication', 'kernel'),
    ('multimem_all_reduce_kernel', 'communication', 'kernel'), ('deep_ep::dispatch', 'communication', 'kernel'),
    ('MEMORY_COPY_HOST_TO_DEVICE', 'copy', 'kernel'), ('__amd_rocclr_copyBuffer.kd', 'copy', 'kernel'),
    ('CopyHostToDevice', 'copy', 'kernel'), ('dmabuf_kernel', 'compute', 'kernel'),
    ('loop_add_fusion_dma_x', 'compute', 'kernel'), ('Memset (Device)', 'copy', 'gpu_memset'),
    ('ncclDevKernel_AllGather', 'communication', 'kernel'), ('cross_device_reduce_1stage', 'communication', 'kernel'),
]


def test_classes(made):
    """2.1, in the order of the table, whatever the order in the file."""
    events = [kernel(10 * i, 5, name, cat=cat) for i, (name, _, cat) in enumerate(CLASSES)]
    random.Random(1).shuffle(events)
    assert {o['name']: o['class'] for o in made(events, '--group=raw')['ops']} == {n: c for n, c, _ in CLASSES}


def test_host_calls_are_no_device_work(made):
    """`hipMemcpyAsync` is a call of the host; HTA counts it as communication."""
    report = made([host(0, 50, 'hipMemcpyAsync', 'cuda_runtime', correlation=1),
                   kernel(60, 5, 'Memcpy HtoD (Pinned -> Device)', cat='gpu_memcpy', correlation=1)])
    assert breakdown(report)['busy'] == breakdown(report)['exposed_copy'] == 5
