"""Instructions on the pages of ops, beside the text that XLA itself makes of the same protos: what stands before the
operands, and every attribute that ours has."""
import html
import json
import re
import sys

import pytest

from conftest import ROOT, Viewer
sys.path[:0] = [str(ROOT / 'tests'), str(ROOT / 'tests/tools')]
import memory_reference as reference
from traces import trace

FILES = ['jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb',
         'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
         'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb',
         'jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb']
TAIL = re.compile(r', (metadata|backend_config)=.*')


def lines_of_xla(path, hlo):
    """{"%name": [line]} of all modules of a file."""
    out = {}
    for plane in reference.xspace(str(path)):
        for _, _, stats in plane.meta.values() if plane.name == '/host:metadata' else ():
            if 'Hlo Proto' in stats:
                module = hlo.HloModule.from_serialized_hlo_module_proto(reference.Msg(stats['Hlo Proto']).f[1][-1])
                for line in module.to_string().splitlines():
                    line = re.sub(r'/\*.*?\*/', '', line.strip().removeprefix('ROOT '))
                    out.setdefault(line.split(' = ')[0], []).append(TAIL.sub('', line))
    return out


def is_said(ours, theirs):
    head, attributes = re.match(r'(%\S+ = (?:\(.*?\)|\S+) [\w-]+\().*?\)(.*)$', ours).groups()
    return theirs.startswith(head) and all(f', {a}' in theirs for a in re.split(r', (?=[a-z_]+=)', attributes) if a)


@pytest.mark.parametrize('file', FILES)
def test_lines_are_those_of_xla(file):
    hlo = pytest.importorskip('jaxlib._hlo')
    path = trace(file)
    known = lines_of_xla(path, hlo)
    viewer = Viewer(path)
    compared = 0
    try:
        for session in json.loads(viewer.get('/api/v1/sessions')[2])['sessions']:
            at = f'/session/{session["id"]}/'
            links = re.findall(r'href="[^"]*(op\?[^"]*)"', viewer.get(at + '?tab=ops&n=500')[2].decode())
            for link in dict.fromkeys(links):
                page = viewer.get(at + html.unescape(link))[2].decode()
                for line in re.findall(r'<code class="hlo">(.*?)</code>', page, re.S):
                    line = TAIL.sub('', html.unescape(line))
                    assert any(is_said(line, x) for x in known[line.split(' = ')[0]]), line
                    compared += 1
    finally:
        viewer.stop()
    assert compared
