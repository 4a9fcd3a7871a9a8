"""How kernels were launched, on the pages of ops, beside another reading of the same files: each configuration with its
calls, on its device, for all names of the group."""
import collections
import re
import sys

import pytest

from conftest import ROOT, Server
from test_op_graph import pages, plain, shown_bytes
sys.path[:0] = [f'{ROOT}/tests', f'{ROOT}/tests/tools']
from kernel_launches import kernels
from traces import trace

ROCM = 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb'
CUDA = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24/cyclops.xplane.pb'
KINETO = 'pytorch_cuda/AMD-AGI__TraceLens/h100/gaunernst_bert-small-uncased__1016001.json.gz'
TORCH_ROCM = 'pytorch_rocm/AMD-AGI__TraceLens/mi300/gaunernst_bert-small-uncased__1016001.json.gz'


def rows(page, section):
    at = page.find(f'<section id="{section}"')
    body = page[at:page.index('</section>', at)] if at >= 0 else ''
    return [[plain(c).strip() for c in re.findall(r'<t[dh]\b[^>]*>(.*?)</t[dh]>', row, re.S)]
            for row in re.findall(r'<tr[^>]*>(.*?)</tr>', body.partition('<tbody>')[2], re.S)]


def is_size(shown, told):
    if shown == '–' or not told:
        return shown == '–' and not told
    value, last = shown_bytes(shown)
    return abs(value - int(told)) <= last


@pytest.mark.parametrize('file', [ROCM, CUDA, KINETO, TORCH_ROCM])
def test_launches(file):
    path = trace(file)
    told = list(kernels(path))
    assert told
    server = Server(path)
    seen = variants = 0
    try:
        for page in pages(server, 40):
            device = re.search(r'<dt>Device</dt><dd>([^<,]*)', page).group(1)
            names = {row[0] for row in rows(page, 'names')}
            mine = collections.Counter(k for d, n, k in told if any(x.startswith(n) for x in names) and
                                       str(d) in (device, re.sub(r'.*\D', '', device)))
            shown = rows(page, 'launches')
            assert len(shown) == len(mine)
            for grid, block, registers, shared, occupancy, calls, _ in shown:
                found = [k for k, n in mine.items() if (grid, block, occupancy.strip('–')) == (k.grid, k.block, k.occupancy)
                         and registers.strip('–') == k.registers and n == int(calls.replace(',', ''))
                         and is_size(shared, k.shared)]
                assert found, (shown, mine)
                mine.pop(found[0])
            seen += bool(shown)
            variants += len(shown) > 1
    finally:
        server.stop()
    assert seen and (variants or file == CUDA)
