"""Profiles that this project recorded on an H100 (tests/recorded): the same program with its kernels in CUDA graphs, as JAX runs it, and
without, where the profiler names the instruction of each. What is told of the graphs must be what it says there."""
import json

import pytest

from common import PROGRAM, ROOT, run

RECORDED = ROOT / 'tests' / 'recorded'
COPIES = {'(no scope)', 'XlaModule'}  # copies that no instruction names, one behind the other: which is which is not told


def report(name, *options):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', *options, RECORDED / f'{name}.tar.gz')[0])


def calls(made):
    return {o['name']: o['calls'] for o in made['ops']}


@pytest.mark.parametrize('group', ['scope', 'source'])
def test_each_scope_has_the_kernels_that_it_has_without_graphs(group):
    graphs, plain = (calls(report(f'conv_{kind}', '--group', group)) for kind in ('graphs', 'plain'))
    left = {name: n for name, n in graphs.items() if plain.get(name) != n}
    assert sum(graphs.values()) == sum(plain.values()) and len(graphs) > (40 if group == 'scope' else 8)
    assert set(left) <= COPIES | {'(no source)'} and sum(left.values()) <= 12


@pytest.mark.parametrize('group', ['scope', 'source', 'module'])
def test_all_of_a_transformer_is_told(group):
    graphs, plain = (calls(report(f'transformer_{kind}', '--group', group)) for kind in ('graphs', 'plain'))
    assert graphs == plain and (len(graphs) > 70 or group != 'scope')


def test_what_is_left_is_said():
    said = [q['message'] for q in report('conv_graphs')['quality'] if q['code'] == 'graph-kernels']
    assert said == ['the instructions of 6 of 489 kernels that CUDA graphs ran cannot be told: they count for the launch of their graph']
    for told in ('conv_plain', 'transformer_graphs'):
        assert not [q for q in report(told)['quality'] if q['code'] == 'graph-kernels']


def test_top_tells_the_same():
    text = run(PROGRAM, 'top', '--group', 'scope', '--format', 'json', RECORDED / 'conv_graphs.tar.gz')[0]
    some, every = calls(json.loads(text)), calls(report('conv_graphs', '--group', 'scope'))
    assert len(some) >= 20 and some == {name: every[name] for name in some}
