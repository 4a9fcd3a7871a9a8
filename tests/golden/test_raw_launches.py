"""`--group raw`: two launches of one kernel with other parameters are two rows, beside another reading of the same files."""
import collections
import csv
import io
import json
import os
import sys

import pytest

from common import PROGRAM, ROOT, run, trace, view_profile
sys.path.insert(0, str(ROOT / 'tests' / 'tools'))
from kernel_launches import kernels  # noqa: E402

FILES = ['jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
         'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb',
         'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb',
         'pytorch_cuda/AMD-AGI__TraceLens/h100/gaunernst_bert-small-uncased__1016001.json.gz',
         'pytorch_rocm/AMD-AGI__TraceLens/mi300/gaunernst_bert-small-uncased__1016001.json.gz']
UNKNOWN = ('', '', '', '')


def raw(path, form, *more):
    return run(PROGRAM, 'report', '--group', 'raw', '--format', form, *more, path)[0].decode()


def counted(path):
    """{(device, name, grid, block, registers, shared): calls} of kernels that tell."""
    return collections.Counter((str(d).rpartition(':')[2], name, k.grid, k.block, k.registers, k.shared)
                               for d, name, k in kernels(path))


def of_row(launch):
    return tuple('' if launch[k] is None else str(launch[k]) for k in ('grid', 'block', 'registers', 'shared_bytes'))


@pytest.mark.parametrize('file', FILES)
def test_rows_are_kinds_of_launches(file):
    path = trace(file)
    want = counted(path)
    made = json.loads(raw(path, 'json'))['ops']
    rows = collections.Counter()
    for o in made:
        if o['launch']:
            rows[(o['device'].split()[-1].rpartition(':')[2], o['name'], *of_row(o['launch']))] += o['calls']
    assert rows == want
    assert len(rows) == sum(o['launch'] is not None for o in made)
    assert len({(o['device'], o['name']) for o in made}) <= len(made)
    grouped = json.loads(run(PROGRAM, 'report', '--format', 'json', path)[0])['ops']
    assert all(o['launch'] is None for o in grouped)
    assert sum(o['self_ps'] for o in grouped) == sum(o['self_ps'] for o in made)


def test_some_kernel_has_several():
    names = collections.Counter()
    for o in json.loads(raw(trace(FILES[1]), 'json'))['ops']:
        names[o['device'], o['name']] += 1
    assert max(names.values()) > 1


@pytest.mark.parametrize('file', FILES[:1] + FILES[3:4])
def test_csv_and_merge_keep_them(file, tmp_path):
    path = trace(file)
    made = json.loads(raw(path, 'json'))['ops']
    want = sorted((o['name'], o['calls'], of_row(o['launch']) if o['launch'] else UNKNOWN) for o in made)
    rows = csv.DictReader(io.StringIO(raw(path, 'csv')))
    assert sorted((r['name'], int(r['calls']), (r['grid'], r['block'], r['registers'], r['shared_bytes'])) for r in rows) == want
    (tmp_path / 'a.json').write_text(raw(path, 'json'))
    merged = json.loads(run(PROGRAM, 'merge', '--format', 'json', tmp_path / 'a.json')[0])['ops']
    assert merged == made


@pytest.mark.parametrize('width, last', [(80, 'grid block category raw'), (200, 'cv grid block regs shared category raw')])
def test_terminal_shows_grids(width, last):
    text = view_profile('top', '--group', 'raw', str(trace(FILES[1])), env={**os.environ, 'COLUMNS': str(width)}).stdout
    head = next(line for line in text.splitlines() if line.startswith('self'))
    assert head.split()[-len(last.split()):] == last.split()
    assert max(map(len, text.splitlines())) <= width


MARKS = {  # XProf's rule, and names of real kernels that it lacks
    'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_32x6_tn_align8>': '16816',
    'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64': 'xmma_gemm',
    'Cijk_Ailk_Bljk_BBS_BH_MT256x224x64_MI16x16x16x1_SN_1LDSB1': 'MI16x16x16x1',
    'volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn': 's884',
    'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >': None,
    'Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1': None,
    'loop_convert_fusion.kd': None,
}


def test_tensor_cores_by_names(tmp_path):
    """Each a kernel of its own, in a trace as Kineto writes it."""
    events = [{'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5,
               'args': {'device': 0, 'stream': 7, 'correlation': i, 'grid': [i + 1, 1, 1], 'block': [64, 1, 1],
                        'registers per thread': 32, 'shared memory': 0}} for i, name in enumerate(MARKS)]
    (tmp_path / 'a.pt.trace.json').write_text(json.dumps({'schemaVersion': 1, 'traceEvents': events}))
    made = json.loads(raw(tmp_path / 'a.pt.trace.json', 'json'))['ops']
    assert {o['name']: o['launch']['tensor_cores'] for o in made} == MARKS
