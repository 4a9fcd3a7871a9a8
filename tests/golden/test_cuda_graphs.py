"""Kernels of CUDA graphs stand in the part of the capture that made them, where PyTorch's profiler wrote that down (`mark_kernels`; args as
torch.profiler._chrome_trace_export and the tool before it write them); nothing is guessed where it did not."""
import json

import pytest

from common import PROGRAM, run

NODE = (5 << 32) + 3  # as CUDA 13.1 numbers them: graph, node


def kernel(at, what, node, /, **more):
    args = {'External id': 3, 'queued': 0, 'device': 0, 'context': 1, 'stream': 7, 'correlation': 45, 'registers per thread': 32,
            'shared memory': 0, 'blocks per SM': 0.5, 'warps per SM': 4.0, 'grid': [8, 1, 1], 'block': [256, 1, 1],
            'est. achieved occupancy %': 25, 'graph id': node >> 32, 'graph node id': node, **more}
    return {'ph': 'X', 'cat': 'kernel', 'name': what, 'pid': 0, 'tid': 7, 'ts': at, 'dur': 4, 'args': args}


def scopes(tmp_path, events, *options):
    launch = {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaGraphLaunch', 'pid': 9, 'tid': 9, 'ts': 1, 'dur': 2,
              'args': {'External id': 3, 'correlation': 45}}
    path = tmp_path / 'a.pt.trace.json'
    path.write_text(json.dumps({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': [launch, *events]}))
    made = json.loads(run(PROGRAM, 'report', '--format', 'json', *options, path)[0])
    return {o['name']: (o['calls'], o['self_ps']) for o in made['ops']}, made


@pytest.mark.parametrize('key', ['name', 'annotation', 'str'])
@pytest.mark.parametrize('lanes', [{}, {'annotated_stream': 70}, {'stream': 70, 'original_stream': 7}])
def test_scopes_are_annotations(tmp_path, key, lanes):
    """One kernel in two layers, over two replays of the graph, and one that nobody marked."""
    events = [e for replay in (10, 100) for e in (
        kernel(replay, 'gemm', NODE, **{key: 'layers.0.attention.wq'}, **lanes),
        kernel(replay + 5, 'gemm', NODE + 1, **{key: 'layers.1.attention \u00e9'}, **lanes),
        kernel(replay + 10, 'gelu', NODE + 2))]
    found, made = scopes(tmp_path, events, '--group', 'scope')
    assert found == {'layers.0.attention.wq': (2, 8_000_000), 'layers.1.attention \u00e9': (2, 8_000_000), '(no scope)': (2, 8_000_000)}
    assert {s['path'] for s in made['scopes']} == set(found)
    text = run(PROGRAM, 'top', '--group', 'scope', tmp_path / 'a.pt.trace.json')[0].decode()
    assert 'layers.1.attention \u00e9' in text


def test_names_are_groups_all_the_same(tmp_path):
    found, made = scopes(tmp_path, [kernel(10, 'gemm', NODE, name='a'), kernel(20, 'gemm', NODE + 1, name='b')])
    op, = made['ops']
    assert op['calls'] == 2 and op['scopes'] == 2 and op['scope'] in ('a', 'b')


@pytest.mark.parametrize('node, more', [
    (0, {'name': 'not in a graph'}), (-1, {'name': 'no node'}), (NODE, {'name': 7}), (NODE, {'name': {'a': 'b'}}), (NODE, {'name': None}),
    (NODE, {'other': 'text'}), (NODE, {})])
def test_nothing_else_is_a_scope(tmp_path, node, more):
    found, made = scopes(tmp_path, [kernel(10, 'gemm', node, **more), kernel(20, 'gemm', NODE + 9)], '--group', 'scope')
    assert found == {'(no scope)': (2, 8_000_000)}


def test_an_annotation_of_any_length(tmp_path):
    """As text of a file is: escaped where it is printed, and as long as an event may be."""
    long = 'layers/' * 20000 + '\u2028\x1b[31m<img src=x>'
    found, made = scopes(tmp_path, [kernel(10, 'gemm', NODE, name=long)], '--group', 'scope')
    assert list(found) == [long]
    assert '\x1b' not in run(PROGRAM, 'top', '--group', 'scope', tmp_path / 'a.pt.trace.json')[0].decode()
