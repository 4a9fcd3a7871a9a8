"""XProf's own tables (hlo_stats, kernel_stats) of a TPU, a ROCm and a CUDA run, to the picosecond, and
the tables of an independent decoder beside them (traces/expected/jax_cpu).

XProf's TPU tables are on the device's own clock (docs/reference/xprof.md#tables), as ours are; the
decoder's are on the aligned clock for TPU, so of those only counts can agree."""
import pytest

from common import ps, report, table

XPROF = 'expected/jax_cpu/xprof/'
TPU = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
ROCM = 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb'
CUDA = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb'
HLO = [(TPU, 'tpu_inference_2', 17), (ROCM, 'rocm_jax08_gemm', 16), (CUDA, 'cuda_2025_02_05_11_05_24', 1)]
KERNELS = [(ROCM, 'rocm_jax08_gemm', 12), (CUDA, 'cuda_2025_02_05_11_05_24', 1)]

MODULE_OF_PROGRAM = {'12190760917235803885': 'jit_f', '9646411105960254074': 'jit__psum',
                     '11287434908481120160': 'jit_broadcast_in_dim'}


def hlo_stats(scenario):
    return table(f'{XPROF}{scenario}/hlo_stats.csv')


def sums(rows, key, total, calls):
    """key → (Σ total, Σ calls)"""
    out = {}
    for r in rows:
        had = out.get(key(r), (0, 0))
        out[key(r)] = (had[0] + total(r), had[1] + calls(r))
    return out


def xprof_sums(rows, key):
    return sums(rows, key, lambda r: ps(r['Total time (us)']), lambda r: int(float(r['#Occurrences'])))


def our_sums(path, group, key):
    return sums(report(path, f'--group={group}')['ops'], key, lambda o: o['total_ps'], lambda o: o['calls'])


@pytest.mark.parametrize('path,scenario,count', HLO)
def test_all_rows_are_there(path, scenario, count):
    rows = hlo_stats(scenario)
    assert len(rows) == count
    assert all(r['Total time (us)'] == r['Total self time (us)'] for r in rows)  # nothing nests here
    assert len({(r['Program id'], r['HLO op name']) for r in rows}) == count


def test_tpu_ops():
    """Program, category, op: 17 rows over four chips; our names of raw ops are unique to a program here."""
    want = xprof_sums(hlo_stats('tpu_inference_2'),
                      lambda r: (MODULE_OF_PROGRAM[r['Program id']], r['HLO op category'], r['HLO op name']))
    ours = our_sums(TPU, 'raw', lambda o: (o['module'], o['category'], o['name']))
    assert ours == want


def test_tpu_framework_ops():
    """XProf's framework name is our scope, but for the colon it ends with. Ops without one have the scope of their
    first user (docs/reference/links.md#scopes-of-ops-that-xla-made)."""
    rows = hlo_stats('tpu_inference_2')
    nameless = {r['HLO op name'] for r in rows if not r['Framework op name']}
    want = xprof_sums([r for r in rows if r['Framework op name']], lambda r: r['Framework op name'].rstrip(':'))
    ours = our_sums(TPU, 'raw', lambda o: None if o['name'] in nameless else o['scope'])
    assert {k: v for k, v in ours.items() if k} == want
    assert {o['scope'] for o in report(TPU, '--group=raw')['ops'] if o['name'] in nameless and o['scope']} <= set(want)


def test_tpu_categories():
    want = xprof_sums(hlo_stats('tpu_inference_2'), lambda r: r['HLO op category'])
    assert our_sums(TPU, 'category', lambda o: o['name']) == want


def test_tpu_programs():
    want = xprof_sums(hlo_stats('tpu_inference_2'), lambda r: MODULE_OF_PROGRAM[r['Program id']])
    assert our_sums(TPU, 'module', lambda o: o['name']) == want
    ids = {m['name']: str(m['program_id']) for m in report(TPU, '--group=raw')['modules']}
    assert {name: i for i, name in MODULE_OF_PROGRAM.items()}.items() <= ids.items()


def test_tpu_sources():
    want = xprof_sums([r for r in hlo_stats('tpu_inference_2') if r['Framework op name']],
                      lambda r: r['HLO op name'])
    ours = our_sums(TPU, 'raw', lambda o: o['name'] if o['source'] else None)
    assert {k: v for k, v in ours.items() if k} == want
    sources = {o['source'] for o in report(TPU, '--group=raw')['ops'] if o['source']}
    assert {s.rsplit(':', 1)[0].rsplit('/', 1)[1] for s in sources} == {'host_offload_stress_test.py'}


def test_tpu_total_is_that_of_all_chips():
    """docs/reference/xprof.md#tables: Σ over ops 315,117,903.7 µs on the device's clock."""
    made = report(TPU, '--group=raw')
    total = sum(o['total_ps'] for o in made['ops'])
    assert total == sum(ps(r['Total time (us)']) for r in hlo_stats('tpu_inference_2'))
    assert round(total / 1e6, 1) == 315117903.7
    assert sum(d['breakdown']['busy_ps'] for d in made['devices']) == total


@pytest.mark.parametrize('path,scenario', [(ROCM, 'rocm_jax08_gemm'), (CUDA, 'cuda_2025_02_05_11_05_24')])
def test_gpu_programs(path, scenario):
    """One HLO op a program in both runs, so XProf's rows are our modules."""
    rows = hlo_stats(scenario)
    assert len({r['Program id'] for r in rows}) == len(rows)
    want = {int(r['Program id']): ps(r['Total time (us)']) for r in rows}
    assert {m['program_id']: m['total_ps'] for m in report(path, '--group=raw')['modules']} == want


@pytest.mark.parametrize('path,scenario', [(ROCM, 'rocm_jax08_gemm'), (CUDA, 'cuda_2025_02_05_11_05_24')])
def test_gpu_framework_ops(path, scenario):
    """Copies have no framework op, but XProf counts those that carry an hlo_op: 12 of 24 in the ROCm run
    belong to `copy.1` of program 1 and are no copies of the host."""
    want = xprof_sums(hlo_stats(scenario), lambda r: r['Framework op name'].rstrip(':'))
    want.pop('', None)
    ours = our_sums(path, 'scope', lambda o: o['name'])
    ours.pop('(no scope)', None)
    assert ours == want


@pytest.mark.parametrize('path,scenario,count', KERNELS)
def test_kernels(path, scenario, count):
    """kernel_stats has a row for each op and launch of a kernel: summed over ops, with extremes. It does not read
    group_mem, the shared memory of ROCm's kernels."""
    def told(r):
        return r['Kernel Name'], r['Grid dim'], r['Block dim'], int(float(r['Registers per thread']))

    def ours(o):
        return o['name'], o['launch']['grid'], o['launch']['block'], o['launch']['registers'] or 0

    rows = table(f'{XPROF}{scenario}/kernel_stats.csv')
    assert len(rows) == count
    want = sums(rows, told, lambda r: ps(r['Total Duration (μs)']), lambda r: int(float(r['Occurrences'])))
    assert our_sums(path, 'raw', ours) == want
    ops = report(path, '--group=raw')['ops']  # of all devices, as XProf's rows are
    for kernel in want:
        mine, theirs = [o for o in ops if ours(o) == kernel], [r for r in rows if told(r) == kernel]
        assert min(o['min_ps'] for o in mine) == min(ps(r['Min Duration (μs)']) for r in theirs)
        assert max(o['max_ps'] for o in mine) == max(ps(r['Max Duration (μs)']) for r in theirs)
        assert {int(float(r['Shared Mem bytes'])) for r in theirs} <= {0, *(o['launch']['shared_bytes'] for o in mine)}
        assert not any(o['launch']['tensor_cores'] for o in mine) or {r['Kernel uses TensorCore'] for r in theirs} == {'True'}


DEVICE_LINES = table('expected/jax_cpu/device/computed_xplane.tsv') + table('expected/computed_xplane.tsv')
JAX_CPU_FILES = {r['path'] for r in table('expected/jax_cpu/computed_xplane.tsv')}


def is_op_line(row):
    return row['plane'].startswith('/device:') and (row['line'] == 'XLA Ops' or row['line'].startswith('Stream #'))


def op_lines():
    """(path, device) → its op lines; both tables are by the same decoder, the second has more files."""
    out = {}
    for r in DEVICE_LINES:
        if is_op_line(r):
            out.setdefault((r['path'], r['plane']), {})[r['line']] = r
    return out


@pytest.mark.parametrize('key', sorted(op_lines()), ids=lambda k: f'{k[0]}-{k[1]}')
def test_lines_of_a_device(key):
    """Events of the op lines; on GPUs, whose events have one clock, sums and unions too: total is the sum
    of durations (nothing nests on a stream) and self the union per line."""
    path, device = key
    lines = op_lines()[key].values()
    made = report(path, '--group=raw')
    mine, = [d for d in made['devices'] if d['name'] == device]
    assert mine['events'] == sum(int(r['events']) for r in lines)
    if 'GPU' in device:
        ops = [o for o in made['ops'] if o['device'] == device]
        assert sum(o['total_ps'] for o in ops) == sum(int(r['sum_ps']) for r in lines)
        assert sum(o['self_ps'] for o in ops) == sum(int(r['busy_ps']) for r in lines)
        first, last = min(int(r['first_ps']) for r in lines), max(int(r['last_ps']) for r in lines)
        assert mine['breakdown']['window_ps'] == last - first


def test_modules_line():
    """The line `XLA Modules` of four chips: runs and Σ (aligned clock, which modules alone have)."""
    lines = [r for r in table('expected/jax_cpu/device/computed_xplane.tsv')
             if r['path'] == TPU and r['line'] == 'XLA Modules']
    assert len(lines) == 4
    modules = report(TPU, '--group=raw')['modules']
    assert sum(m['runs'] for m in modules) == sum(int(r['events']) for r in lines)
    assert sum(m['total_ps'] for m in modules) == sum(int(r['sum_ps']) for r in lines)


@pytest.mark.parametrize('path', [ROCM, TPU, CUDA])
def test_events_of_device_lines(path):
    """The decoder's table of names on the op lines, on the device's clock where it has one. It cuts names
    at 200 characters and names a TPU op by its whole HLO text (`%copy-done.4 = f32[…`), we by its display
    name."""
    rows = [r for r in table('expected/jax_cpu/device/computed_events.tsv') if r['path'] == path and is_op_line(r)]
    assert rows
    want = sums(rows, lambda r: r['name'].split(' = ')[0].lstrip('%'),
                lambda r: int(r['device_sum_ps'] or r['sum_ps']), lambda r: int(r['events']))
    assert our_sums(path, 'raw', lambda o: o['name'][:200]) == want
