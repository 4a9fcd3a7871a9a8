"""Findings that have no place in time lead to the part of the report that they judge, on the site and in a report of one file."""
import html
import re
import subprocess
import sys

import pytest

from conftest import ROOT, Server
sys.path[:0] = [f'{ROOT}/tests', f'{ROOT}/tests/golden']
from common import PROGRAM
from traces import trace

FILES = ['jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb', 'jax_cpu/three_runs',
         'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb']
SECTION = {**{f'F{i}': 'memory' for i in range(30, 33)}, **{f'F{i}': 'mfu' for i in range(33, 36)},
           **{f'F{i}': 'plans' for i in range(36, 41)}}


def cards(page):
    """{id: [links to sections]} of the findings that fired."""
    out = {}
    for ident, body in re.findall(r'<li class="finding \w+" id="finding-(F\d+)">(.*?)(?=<li class="finding |</ol>)', page, re.S):
        out[ident] = [html.unescape(x) for x in re.findall(r'<p><a href="([^"]*#\w+)">', body)]
    return out


def test_links_lead_there():
    seen = set()
    for file in FILES:
        server = Server(trace(file))
        try:
            for session in server.sessions():
                at = f'/session/{session["id"]}/'
                for ident, links in cards(server.get(at).content().decode()).items():
                    assert len(links) == (ident in SECTION), (ident, links)
                    for link in links:
                        target, _, section = link.partition('#')
                        assert section == SECTION[ident]
                        there = server.get(at + target if target.startswith('?') else target).content().decode()
                        assert f'<section id="{section}"' in there
                        seen.add(section)
        finally:
            server.stop()
    assert 'plans' in seen and len(seen) > 1


@pytest.mark.parametrize('file', FILES[2:])
def test_in_one_file(file):
    page = subprocess.run([PROGRAM, 'report', '--format=html', trace(file)], capture_output=True, text=True, check=True).stdout
    found = {ident: links for ident, links in cards(page).items() if links}
    assert found
    for ident, links in found.items():
        assert links == [f'#{SECTION[ident]}'] and f'<section id="{SECTION[ident]}"' in page
