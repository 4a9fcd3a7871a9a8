"""TraceLens's own gpu_timeline.csv of eleven PyTorch traces, and the same definitions computed by an
independent script over 56 (traces/expected).

TraceLens counts memset as computation, we count it as a copy, so time moves between two classes and
everything that does not name a class (busy, idle, total) must agree as it stands. Where no memset
overlaps another op, exactly the memsets' time moves; in four files one does, and what moves is found
from the file's own intervals. Figures of TraceLens went through doubles: 0.2 µs (README of the traces)."""
import importlib.util

import pytest

from common import TRACES, by_kernel, least, ps, reference_script, report, table, trace

TOLERANCE_PS = 200_000

GOLD = table('expected/gold_tracelens_gpu_timeline.tsv')
COMPUTED = table('expected/computed_gpu_timeline.tsv')
COLUMNS = {'computation': 'compute_ps', 'exposed_comm': 'exposed_comm_ps', 'exposed_memcpy': 'exposed_copy_ps',
           'busy': 'busy_ps', 'idle': 'idle_ps', 'total': 'window_ps', 'total_comm': 'comm_ps',
           'total_memcpy': 'copy_ps'}
OVERLAPPING_MEMSET = {
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/negative_queue_length_values_check/rank0.json.gz',
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/trace_diff/test/test.json.gz',
    'pytorch_cuda/facebookresearch__param/dlrm_kineto/worker3_step_12.1694128201557.pt.trace.json',
    'pytorch_synthetic/mpashkovskiy__pytorch-trace-tui/test_trace.json',
}


def by_path(rows):
    return [pytest.param(r, id=r['path']) for r in rows]


def is_memset(op):
    return 'memset' in op['category'].lower()


def ours(path):
    """Our breakdown, in TraceLens's words."""
    only, = report(path, '--group=raw')['devices']
    return {name: only['breakdown'][key] for name, key in COLUMNS.items()}


def memset_ps(path):
    return sum(o['total_ps'] for o in report(path, '--group=raw')['ops'] if is_memset(o))


def reference():
    """The independent reference script, for its interval arithmetic."""
    spec = importlib.util.spec_from_file_location('reference', reference_script())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def moved_by_intervals(path):
    """What each column gains when memset turns from copy into computation, from the file's events."""
    ref = reference()
    ops, = ref.kineto(ref.chrome(ref.unzip(trace(path)))).values()

    def union(keep):
        return ref.U([(o.s, o.e) for o in ops if keep(o)])

    def lost(a, b):
        return ref.L(ref.SUB(a, b)) - ref.L(a)

    memset = union(lambda o: o.name.startswith('Memset'))
    copies = union(lambda o: o.cls == 'copy' and not o.name.startswith('Memset'))
    compute = union(lambda o: o.cls == 'compute')
    comm = union(lambda o: o.cls == 'comm')
    all_copies = union(lambda o: o.cls == 'copy')
    other = union(lambda o: o.cls != 'copy')
    return {
        'computation': ref.L(ref.SUB(memset, compute)),
        'exposed_comm': lost(ref.SUB(comm, compute), memset),
        'exposed_memcpy': ref.L(ref.SUB(ref.SUB(copies, memset), other)) - ref.L(ref.SUB(all_copies, other)),
        'total_memcpy': ref.L(copies) - ref.L(all_copies),
    }


def moved(path):
    if path in OVERLAPPING_MEMSET:
        return moved_by_intervals(path)
    memset = memset_ps(path)
    return {'computation': memset, 'exposed_memcpy': -memset, 'total_memcpy': -memset}


def off(got, want):
    """The columns that differ by more than the tolerance."""
    return {c: got[c] - want[c] for c in COLUMNS if abs(got[c] - want[c]) > TOLERANCE_PS}


def in_their_classes(path):
    shift = moved(path)
    return {c: v + shift.get(c, 0) for c, v in ours(path).items()}


@pytest.mark.parametrize('row', by_path(r for r in GOLD if r['our_reference_script'] == 'MATCH'))
def test_tracelens_own_figures(row):
    want = {c: ps(row[f'{c}_time_ms'], 'ms') for c in COLUMNS}
    assert off(in_their_classes(row['path']), want) == {}


@pytest.mark.parametrize('row', by_path(r for r in GOLD if r['our_reference_script'] != 'MATCH'))
def test_tracelens_lost_the_memsets(row):
    """The rows marked DIFF: TraceLens's busy time lacks exactly the memsets, which it put in no class."""
    assert row['our_reference_script'] == 'DIFF:computation_time,busy_time,idle_time'
    want = {c: ps(row[f'{c}_time_ms'], 'ms') for c in COLUMNS}
    memset = memset_ps(row['path'])
    assert memset > TOLERANCE_PS
    want = {**want, 'computation': want['computation'] + memset, 'busy': want['busy'] + memset,
            'idle': want['idle'] - memset}
    assert off(in_their_classes(row['path']), want) == {}


@pytest.mark.parametrize('row', by_path(COMPUTED))
def test_same_definitions_by_another_script(row):
    want = {c: ps(row[f'{c}_time_us']) for c in COLUMNS}
    assert off(in_their_classes(row['path']), want) == {}


@pytest.mark.parametrize('row', by_path(COMPUTED))
def test_same_events_in_each_class(row):
    calls = {'compute': 0, 'communication': 0, 'copy': 0}
    for op in report(row['path'], '--group=raw')['ops']:
        calls['compute' if is_memset(op) else op['class']] += op['calls']
    assert calls == {'compute': int(row['n_comp']), 'communication': int(row['n_comm']),
                     'copy': int(row['n_memcpy'])}


def test_all_rows_are_there():
    assert len(GOLD) == 11 and len(COMPUTED) == 56
    assert sum(r['our_reference_script'] == 'MATCH' for r in GOLD) == 9


# ---- its table of kernels ----------------------------------------------------------------------

KERNELS = [r['path'] for r in GOLD if (TRACES / r['reference_csv']).with_name('kernel_summary.csv').is_file()]


def kernel_summary(path):
    """name → [calls, Σ µs, least, most] over TraceLens's rows, which split a kernel by its caller."""
    source, = [r['reference_csv'] for r in GOLD if r['path'] == path]
    out = {}
    for row in table(source.replace('gpu_timeline.csv', 'kernel_summary.csv')):
        of = [float(row[f'Kernel duration (µs)_{c}']) for c in ('count', 'sum', 'min', 'max')]
        had = out.get(row['Kernel name'], [0, 0, of[2], of[3]])
        out[row['Kernel name']] = [had[0] + of[0], had[1] + of[1], min(had[2], of[2]), max(had[3], of[3])]
    return out


@pytest.mark.parametrize('path', KERNELS)
def test_kernel_summary(path):
    """Calls of each kernel, and its sum, least and most to a picosecond and the noise of its doubles."""
    ours = {o['name']: o for o in by_kernel(report(path, '--group=raw')['ops']) if o['category'] == 'kernel'}
    want = kernel_summary(path)
    assert want.keys() == ours.keys()
    off_by = {}
    for name, (calls, *figures) in want.items():
        got = [ours[name][f] for f in ('total_ps', 'min_ps', 'max_ps')]
        if calls != ours[name]['calls'] or any(abs(g - f * 1e6) > 1 + 1e-9 * g for g, f in zip(got, figures)):
            off_by[name] = (calls, ours[name]['calls'], figures, got)
    assert off_by == {}
    assert len(KERNELS) == least(8, 1)
