"""Profiles that this project recorded on an H100 (tests/recorded): the same program with its kernels in CUDA graphs, as JAX runs it, and
without, where the profiler names the instruction of each. What is told of the graphs must be what it says there."""
import json
import pickle
import tarfile

import pytest

from common import PROGRAM, ROOT, run

RECORDED = ROOT / 'tests' / 'recorded'
# Copies that no instruction names, one behind the other: which is which is not told. Some have the scope of the loop
# that takes them.
COPIES = {'(no scope)', 'XlaModule', 'jit(step)/jvp(recurrent)/while'}


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


def test_pytorchs_own_sum_of_its_kernels():
    """`Self CUDA time total: 3.766ms`, as key_averages() printed it of the same events."""
    made = report('torch', '--session', 'torch.pt.trace.json.gz')
    device, = made['devices']
    assert device['name'] == 'GPU 0' and round(sum(o['self_ps'] for o in made['ops']) / 1e6) == 3766


def test_pytorchs_own_counts_of_its_memory():
    """Reserved is what memory_stats() said; in use is what was asked for, which its blocks of 268,846,080 bytes round up."""
    of, = report('torch', '--session', 'snapshot.pickle')['memory']['allocators']
    assert of['reserved_bytes'] == 343_932_928 and of['allocations'] == 1000 and of['frees'] == 996
    assert 0 < 268_846_080 - of['end_bytes'] < 8 << 20
    blocks = (b for s in pickle.load(tarfile.open(RECORDED / 'torch.tar.gz').extractfile('snapshot.pickle'))['segments'] for b in s['blocks'])
    assert of['end_bytes'] == sum(b['requested_size'] for b in blocks if b['state'] == 'active_allocated')
