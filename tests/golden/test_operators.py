"""Each device op has the operator that an independent script finds by time and correlation (links_reference.py)."""
import gzip
import json
import re

import pytest

import links_reference
from common import TRACES, report, view_profile
from traces import NARROW



def has_device_ops(path):
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b'\x1f\x8b' else raw
    return re.search(rb'"cat": ?"(kernel|Kernel|gpu_mem(cpy|set)|Mem(cpy|set))"', text) is not None


PROFILES = sorted(p for kind in ('pytorch_cuda', 'pytorch_rocm') for p in (TRACES / kind).rglob('*.json*')
                  if p.is_file() and has_device_ops(p))


@pytest.mark.parametrize('path', PROFILES, ids=lambda p: str(p.relative_to(TRACES)))
def test_operators_are_those_of_the_reference(path):
    calls, _ = links_reference.operators(path)
    ops = report(path, '--group=operator')['ops']
    ours = {}
    for op in ops:
        ours[op['name']] = ours.get(op['name'], 0) + op['calls']
    assert ours == dict(calls)


@pytest.mark.parametrize('path', PROFILES, ids=lambda p: str(p.relative_to(TRACES)))
def test_top_names_the_operators_of_the_report(path):
    def operators(answer):
        return {(op['device'], op['class'], op['category'], op['name']): (op['operator'], op['outermost_operator'], op['operators'])
                for op in answer['ops']}

    top = operators(json.loads(view_profile('top', '--top=100000', '--format=json', path).stdout))
    assert top == operators(report(path))


@pytest.mark.slow
@pytest.mark.skipif(NARROW, reason='needs the wide collection')
def test_most_profiles_have_operators_for_nearly_all_device_time():
    linked = total = 0
    for path in PROFILES:
        ops = report(path, '--group=operator')['ops']
        time = sum(op['self_ps'] for op in ops)
        total += 1
        linked += sum(op['self_ps'] for op in ops if op['name'] != links_reference.NONE) * 20 >= time * 19
    assert (linked >= 46, total >= 54) == (True, True), (linked, total)
