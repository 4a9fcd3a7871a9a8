"""Steps and host operators of Kineto traces: what torch_tb_profiler and HolisticTraceAnalysis assert of
them, and the independent reference script's windows and breakdowns of every step.

torch_tb_profiler's step: from the end of the step before (or its own start) to the end of the last
device work launched in it (or its own end); its roles Kernel, Memcpy, Memset are our compute and exposed
copies, a memset being a copy. Whole µs."""
import json
import subprocess

import pytest

from common import by_reference, missing, report, table, trace

US = 10**6
CUDA, ROCM = 'pytorch_cuda/', 'pytorch_rocm/'
HTA = CUDA + 'facebookresearch__HolisticTraceAnalysis/'
RESNET = CUDA + 'pytorch__kineto/samples/resnet50_num_workers_0/'
EXPECTED = 'expected/pytorch__kineto/'
INLINE = EXPECTED + 'inline/'


def steps_of(path):
    return report(path)['steps']


# ---- overview: one row a step --------------------------------------------------------------------

OVERVIEW = table(EXPECTED + 'overview_steps_num_workers_0.tsv')


@pytest.mark.parametrize('row', OVERVIEW, ids=lambda r: f'step {r["step"]}')
def test_overview_rows(row):
    """Each role in µs, all of them together the step."""
    step, = [s for s in steps_of(RESNET + row['span_file'])['list'] if s['number'] == int(row['step'])]
    b = step['breakdown']
    assert step['dur_ps'] == int(row['total_us']) * US
    assert b['compute_ps'] == int(row['Kernel']) * US
    assert b['exposed_copy_ps'] == (int(row['Memcpy']) + int(row['Memset'])) * US
    others = sum(int(row[k]) for k in ('Runtime', 'DataLoader', 'CPU Exec', 'Other'))
    assert b['idle_ps'] == others * US and b['exposed_comm_ps'] == 0


def test_all_overview_rows_are_there():
    assert [r['step'] for r in OVERVIEW] == ['5', '6', '7', '8', '9', '10']
    assert [s['number'] for s in steps_of(RESNET + OVERVIEW[0]['span_file'])['list']] == [5, 6, 7, 8, 9, 10]


# ---- every step of every file, by the reference script -------------------------------------------

STEPPED = [
    RESNET + 'worker0.1623143089861.pt.trace.json.gz', RESNET + 'worker0.1623143566756.pt.trace.json.gz',
    HTA + 'trace_diff/test/test.json.gz', HTA + 'negative_queue_length_values_check/rank0.json.gz',
    CUDA + 'pytorch__benchmark/trace.json', CUDA + 'pytorch__benchmark/trace2.json',
    CUDA + 'sidnb13__torch-profiling-tutorial/log/transformer/dc3b0e7228dd_851.1752215573993169006.pt.trace.json',
    CUDA + 'sidnb13__torch-profiling-tutorial/log/transformer/dc3b0e7228dd_851.1752215574025896717.pt.trace.json',
    CUDA + 'AMD-AGI__TraceLens/h100/Falconsai_nsfw_image_detection__1016002.json.gz',
    ROCM + 'AMD-AGI__TraceLens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz',
]


@pytest.fixture(scope='module')
def reference():
    done = subprocess.run(by_reference('--steps', *(trace(p) for p in STEPPED if not missing(p))), capture_output=True, text=True, check=True)
    return {r['file']: r.get('steps') for r in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize('path', STEPPED)
def test_steps_as_the_reference(path, reference):
    want = reference[str(trace(path))]
    ours = steps_of(path)
    assert ours['source'] == 'profiler_step'
    assert [s['number'] for s in ours['list']] == [s['number'] for s in want]
    first = ours['list'][0]['start_ps'] - want[0]['start_ps']
    for mine, theirs in zip(ours['list'], want):
        assert mine['start_ps'] - theirs['start_ps'] == first
        assert mine['dur_ps'] == theirs['end_ps'] - theirs['start_ps']
        assert mine['breakdown'] == {k: theirs[k] for k in mine['breakdown']}


# ---- steps of the inline cases -------------------------------------------------------------------


def inline(test):
    """[(window, compute, exposed copies and communication) in µs] of each step"""
    return [(s['dur_ps'] // US, s['breakdown'] and s['breakdown']['compute_ps'] // US,
             s['breakdown'] and s['breakdown']['exposed_copy_ps'] // US)
            for s in steps_of(f'{INLINE}{test}.json')['list']]


def test_all_categories():
    """Kernel 15, Memcpy 10 + Memset 5; all roles together 400."""
    assert inline('test_all_categories') == [(400, 15, 15)]


def test_runtime_called_by_profilerstep():
    """Kernel 8, Runtime 20, Other 272."""
    assert inline('test_runtime_called_by_profilerstep') == [(300, 8, 0)]


def test_multiple_profilersteps():
    """320 − 100 and 610 − 350: each ends with the device work that was launched in it."""
    assert inline('test_multiple_profilersteps_no_overlap') == [(220, 0, 40), (260, 200, 0)]


def test_no_profilerstep():
    """torch_tb_profiler makes one step of everything; we say that there is none."""
    made = steps_of(INLINE + 'test_no_profilerstep.json')
    assert (made['source'], made['count'], made['median_ps']) == ('none', 0, None)


def test_pure_cpu():
    """Two steps of 200 and 100 µs on the host alone."""
    assert inline('test_pure_cpu') == [(200, None, None), (100, None, None)]


# ---- operators of the host -----------------------------------------------------------------------


def operators(path):
    """name → (calls, total, self) over threads"""
    out = {}
    for o in report(path)['host_ops']:
        had = out.get(o['name'], (0, 0, 0))
        out[o['name']] = had[0] + o['calls'], had[1] + o['total_ps'], had[2] + o['self_ps']
    return out


OPERATORS = [  # test, operator, calls, host_duration, self_host_duration: µs
    ('test_all_categories', 'aten::to', 1, 60, 60),
    ('test_all_categories', 'aten::nll_loss_backward', 1, 70, 35),
    ('test_multiple_profilersteps_no_overlap', 'aten::to', 1, 60, 55),
    ('test_multiple_profilersteps_no_overlap', 'aten::mm', 1, 50, 45),
    ('test_self_time', 'aten::mat_mul', 1, 100, 35), ('test_self_time', 'aten::mm', 1, 40, 30),
]


@pytest.mark.parametrize('test,name,calls,total,self_us', OPERATORS)
def test_operators(test, name, calls, total, self_us):
    assert operators(f'{INLINE}{test}.json')[name] == (calls, total * US, self_us * US)


def test_operators_of_resnet():
    """Its operator view against our host top: times of the host, where the launch calls inside an operator
    are not its own time, there as here. It drops an operator that does nothing but call its namesake, we
    count that call and not its time twice. Our list ends after a hundred rows, and a name may have a row of
    another thread behind that: of such a name fewer calls are seen."""
    text = trace(EXPECTED + 'result_check_num_workers_0.txt').read_text(encoding='utf-8')
    rows = json.loads([line for line in text.splitlines() if line.strip()][2])['data']
    ours = operators(RESNET + 'worker0.1623143089861.pt.trace.json.gz')
    whole = [r for r in rows if r['name'] in ours and ours[r['name']][0] >= r['calls']]
    assert len(whole) >= 30
    for r in whole:
        calls, total, self_ps = ours[r['name']]
        assert (total, self_ps) == (r['host_total_duration'] * US, r['host_self_duration'] * US), r['name']
        assert calls == r['calls'] or r['name'] == 'aten::div', r['name']


def test_hta_step_of_one_iteration():
    """trace_compare/base, iteration 1010: 122,149 µs on the host."""
    ours = operators(HTA + 'trace_compare/base/base.json.gz')
    assert ours['ProfilerStep#1010'][:2] == (1, 122149 * US)


def test_hta_trace_diff():
    """6.3: overlap of communication 70.84 %; 8,938 events below 10 µs, of which 4,467 are kernels, the others
    copies and memsets."""
    made = report(HTA + 'trace_diff/test/test.json.gz')
    device, = made['devices']
    b = device['breakdown']
    assert round(100 * b['overlap_comm_ps'] / b['comm_ps'], 2) == 70.84
    launch, = made['launch']['devices']
    assert launch['short_kernels'] == 4467
    assert max(c['exposed_ps'] for c in made['collectives']) <= b['exposed_comm_ps'] <= \
        sum(c['exposed_ps'] for c in made['collectives'])


def test_hta_queue():
    """negative_queue_length_values_check: no queue is shorter than nothing."""
    for row in report(HTA + 'negative_queue_length_values_check/rank0.json.gz')['launch']['devices']:
        assert row['queue_max'] >= 1 and row['queue_mean_milli'] >= 0 and row['delay_p50_ps'] >= 0
