"""What torch_tb_profiler and HolisticTraceAnalysis assert in their own tests, as far as it concerns
kernels and the time of devices (traces/expected). Figures are whole microseconds.

torch_tb_profiler divides a step among its roles by priority Kernel, Memcpy, Memset, …, each second
given to one role only; over all steps of a file that holds nothing else these add up to our classes."""
import json
import re
from collections import Counter

import pytest

from common import by_kernel, report, table, trace

EXPECTED = 'expected/pytorch__kineto/'
RESNET = 'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz'
HTA = 'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/'


def views():
    """The JSON values of result_check_num_workers_0.txt, one a line."""
    text = trace(EXPECTED + 'result_check_num_workers_0.txt').read_text(encoding='utf-8')
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def raw_ops(path):
    return report(path, '--group=raw')['ops']


def kernels(path):
    return [o for o in by_kernel(raw_ops(path)) if o['category'].lower() == 'kernel']


def memset_ps(path):
    return sum(o['total_ps'] for o in raw_ops(path) if 'memset' in o['category'].lower())


# ---- the views of one resnet50 run -------------------------------------------------------------


def test_kernel_table():
    """Name, calls, total, mean, max, min of all 67 kernels; their means are rounded to whole µs."""
    data = views()[3]['data']
    columns = {c['name']: i for i, c in enumerate(data['columns'])}
    assert len(data['rows']) == 67
    picked = ['Name', 'Calls', 'Total Duration (us)', 'Mean Duration (us)', 'Max Duration (us)', 'Min Duration (us)']
    want = {tuple(r[columns[p]] for p in picked) for r in data['rows']}
    ours = {(o['name'], o['calls'], o['total_ps'] // 10**6, round(o['mean_ps'] / 1e6), o['max_ps'] // 10**6,
             o['min_ps'] // 10**6) for o in kernels(RESNET)}
    assert ours == want
    assert all(o['total_ps'] % 10**6 == 0 for o in kernels(RESNET))


def test_kernel_pie_is_in_our_order():
    want = [tuple(r) for r in views()[4]['total']['rows']]
    ours = [(o['name'], o['total_ps'] // 10**6) for o in kernels(RESNET)]
    assert sorted(ours) == sorted(want)
    assert [t for _, t in ours] == [t for _, t in want]


def test_steps_add_up_to_our_classes():
    steps = table(EXPECTED + 'overview_steps_num_workers_0.tsv')
    assert len(steps) == 6

    def over_steps(role):
        return sum(int(s[role]) for s in steps) * 10**6

    device, = report(RESNET, '--group=raw')['devices']
    assert device['breakdown']['compute_ps'] == over_steps('Kernel')
    assert device['breakdown']['copy_ps'] == over_steps('Memcpy') + over_steps('Memset')
    assert memset_ps(RESNET) == over_steps('Memset')


# ---- hand-made traces with asserted figures ----------------------------------------------------

INLINE = table(EXPECTED + 'inline_asserts_dev.tsv')
ROLES = {'Kernel': lambda b, memset: b['compute_ps'] + b['comm_ps'],
         'Memcpy': lambda b, memset: b['copy_ps'] - memset, 'Memset': lambda b, memset: memset}
KERNEL_LIST = re.compile(r'profile\.kernel_list_groupby_name_op\[0\]\.(calls|total_duration|min_duration|max_duration|name)$')
KERNEL_STAT = re.compile(r"profile\.kernel_stat\.iloc\[0\]\['(count|sum|mean|min|max)'\]$")
FIELD = {'calls': 'calls', 'count': 'calls', 'total_duration': 'total_ps', 'sum': 'total_ps', 'mean': 'mean_ps',
         'min_duration': 'min_ps', 'min': 'min_ps', 'max_duration': 'max_ps', 'max': 'max_ps', 'name': 'name'}
NOT_OURS = [  # subject, why it is left out
    (r'step\.costs\[ProfileRole\.(Runtime|DataLoader|CpuOp|Other|Total)\]', 'roles of host time: no such view yet'),
    (r'profile\.avg_costs|len\(profile\.steps_costs\)', 'steps: no such view yet'),
    (r'op_agg\.|op_count|op_list_groupby|agg_op\.', 'operators of the framework: no such view yet'),
    (r'kernel_list_groupby_name_op\[0\]\.op_name|len\(profile\.kernel_list_groupby_name_op\)',
     'kernels by launching operator: no such view yet'),
    (r'agg_kernel\.', 'the expected values are not in the table'),
    (r'tc_ratio|tc_eligible', 'tensor cores: no such view yet'),
    (r'event_data_|start_ts|stats|roots|profile\.memory', 'memory curves and module trees: no such view yet'),
]


def path_of(row):
    return f'{EXPECTED}inline/{row["test"]}.json'


def number(text):
    """ '5 + 6 = 11' → 11 µs in ps """
    return int(text.rsplit('=', 1)[-1]) * 10**6


def role_of(row):
    found = re.fullmatch(r'step\.costs\[ProfileRole\.(\w+)\]', row['subject'])
    return found[1] if found and found[1] in ROLES else None


def role_sums():
    """(test, role) → Σ over its steps"""
    out = Counter()
    for row in INLINE:
        if role_of(row):
            out[row['test'], role_of(row)] += number(row['expected'])
    return sorted(out.items())


@pytest.mark.parametrize('key,want', role_sums(), ids=str)
def test_device_roles(key, want):
    test, role = key
    path = f'{EXPECTED}inline/{test}.json'
    made = report(path, '--group=raw')
    if not any(d['kind'] == 'gpu' for d in made['devices']):
        assert want == 0 and test == 'test_pure_cpu'
        return
    device, = made['devices']
    assert ROLES[role](device['breakdown'], memset_ps(path)) == want


def kernel_rows():
    return [r for r in INLINE if KERNEL_LIST.match(r['subject']) or KERNEL_STAT.match(r['subject'])]


@pytest.mark.parametrize('row', kernel_rows(), ids=lambda r: f'{r["test"]}-{r["line"]}')
def test_kernels(row):
    kernel, = kernels(path_of(row))
    field = (KERNEL_LIST.match(row['subject']) or KERNEL_STAT.match(row['subject']))[1]
    value = kernel[FIELD[field]]
    if field == 'name':
        assert value == row['expected'].strip("'")
    elif field in ('calls', 'count'):
        assert value == int(row['expected'])
    else:
        assert value == number(row['expected'])


def test_every_other_row_has_a_reason():
    left = [r for r in INLINE if not role_of(r) and r not in kernel_rows()
            and r['subject'] not in ('profile.kernel_stat.shape[0]', "op_agg.input_shape")]
    unexplained = [r for r in left if not any(re.search(p, r['subject'] + ' ' + r['expected']) for p, _ in NOT_OURS)]
    assert unexplained == []


@pytest.mark.parametrize('test', ['test_all_categories', 'test_multiple_profilersteps_no_overlap'])
def test_kernel_stat_shape(test):
    assert len(kernels(f'{EXPECTED}inline/{test}.json')) == 1


def test_overlapping_kernels_of_one_stream():
    """test_group_by_kernel_columns: 15 + 10 + 13 + 17 µs, three of them from 250 on: busy 15 + 17."""
    device, = report(f'{EXPECTED}inline/test_group_by_kernel_columns.json', '--group=raw')['devices']
    op, = kernels(f'{EXPECTED}inline/test_group_by_kernel_columns.json')
    assert device['breakdown']['busy_ps'] == 32 * 10**6
    assert (op['calls'], op['self_ps'], op['min_ps'], op['max_ps']) == (4, 32 * 10**6, 10 * 10**6, 17 * 10**6)
    assert op['total_ps'] == 55 * 10**6  # parallel kernels, not nested calls: the sum of their durations


def test_kernels_launched_together():
    """test_runtime_launch_multipe_kernels: two collectives of 120318 and 132800 µs under one launch."""
    op, = kernels(f'{EXPECTED}inline/test_runtime_launch_multipe_kernels.json')
    assert (op['calls'], op['total_ps'], op['class']) == (2, (120318 + 132800) * 10**6, 'communication')


# ---- HolisticTraceAnalysis ---------------------------------------------------------------------


def test_no_gpu_events_no_device():
    made = report(HTA + 'mixed_files/rank_non_gpu.json.gz', '--group=raw')
    assert {d['kind'] for d in made['devices']} == {'other'}
    assert made['window']['policy'] == 'capture'


def test_four_kinds_of_copies():
    copies = [o for o in raw_ops(HTA + 'negative_queue_length_values_check/rank0.json.gz') if o['class'] == 'copy']
    assert {o['name'].split(' (')[0] for o in copies} == {'Memcpy DtoD', 'Memcpy DtoH', 'Memcpy HtoD', 'Memset'}
    assert all(o['min_ps'] >= 0 for o in copies)


def test_one_gpu_event_was_removed():
    """trace_compare base → test, iteration 1010: one GPU event less, and nothing else changed."""
    def events(name):
        return Counter({o['name']: o['calls'] for o in raw_ops(f'{HTA}trace_compare/{name}/{name}.json.gz')})

    base, test = events('base'), events('test')
    assert base.total() == 18 and test.total() == 17
    assert (base - test).total() == 1 and not test - base


def test_hta_rows_are_all_known():
    """Rows that are not asserted above are of views that do not exist yet."""
    ours = {'negative_queue_length_values_check', 'mixed_files', 'trace_compare'}
    later = {'df_index_resolver': 'operators', 'critical_path': 'critical path', 'memory_analysis': 'memory'}
    folders = {r['trace_path'][len(HTA):].split('/')[0] for r in table('expected/hta_asserts.tsv')}
    assert folders == ours | later.keys()
