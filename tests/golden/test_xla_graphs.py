"""Kernels of XLA's command buffers stand at the instructions that were recorded. The profiler names at each the launch of its graph only
(`cuda_graph_id`, and `hlo_op` of the call or "command_buffer", as cupti_collector.cc and command_buffer_conversion_pass.cc write them), so the
names of fusions' kernels tell them, and the order between two such tells the rest where counts leave no choice. These profiles are made, for the
cases that decide; test_h100.py has real ones."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

from common import PROGRAM, TRACES, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tools.reference as reference  # noqa: E402
from gen.command_buffer import CONV, GEMM, US, Program, node, replay, write  # noqa: E402


def report(path, *options):
    return json.loads(run(PROGRAM, 'report', '--format', 'json', *options, path)[0])


def left(made):
    return [q['message'] for q in made['quality'] if q['code'] == 'graph-kernels']


def scopes(path, *options):
    """Scope → calls and self time in µs; and what quality says of kernels that could not be told."""
    made = report(path, '--group', 'scope', *options)
    return {o['name'].removeprefix('jit(f)/'): (o['calls'], o['self_ps'] // US) for o in made['ops']}, left(made)


BUFFER = [('loop_add_fusion', 'fusion'), ('custom-call.1', GEMM), ('g', 'get-tuple-element'), ('custom-call.2', GEMM),
          ('input_reduce_fusion.1', 'fusion'), ('custom-call.3', CONV), ('loop_exp_fusion', 'fusion'), ('copy.5', 'copy')]
KERNELS = ['loop_add_fusion', 'cutlass_gemm', 'cutlass_gemm', 'input_reduce_fusion_1', 'im2col', 'implicit_gemm', 'loop_exp_fusion']


def test_names_and_order(tmp_path):
    """Two replays: fusions by their names, of the two products each has one kernel of one name, and the convolution two."""
    found, said = scopes(write(tmp_path, Program(BUFFER), replay(KERNELS) + replay(KERNELS, 100, launch=41)))
    assert found == {'loop_add_fusion': (2, 4), 'custom-call.1': (2, 4), 'custom-call.2': (2, 4), 'input_reduce_fusion.1': (2, 4),
                     'custom-call.3': (4, 8), 'loop_exp_fusion': (2, 4)}
    assert not said


def test_top_tells_the_same(tmp_path):
    """It reads less of the file, and needs the launches of graphs all the same."""
    path = write(tmp_path, Program(BUFFER), replay(KERNELS))
    text = run(PROGRAM, 'top', '--group', 'scope', '--format', 'json', path)[0]
    assert {o['name'] for o in json.loads(text)['ops']} == {f'jit(f)/{i[0]}' for i in BUFFER if i[0] not in ('g', 'copy.5')}


def test_lines_and_opcodes(tmp_path):
    program = Program(BUFFER)
    made = report(write(tmp_path, program, replay(KERNELS)), '--group', 'source')
    assert {o['name'] for o in made['ops']} == {f'model.py:{program.ids[i[0]]}' for i in BUFFER if i[0] not in ('g', 'copy.5')}


def test_counts_that_differ_tell_nothing(tmp_path):
    """Three kernels for two products: either may have launched two."""
    names = KERNELS[:3] + ['splitk_reduce'] + KERNELS[3:]
    found, said = scopes(write(tmp_path, Program(BUFFER), replay(names)))
    assert found.pop('call.1') == (3, 6) and set(found) == {i[0] for i in BUFFER} - {'g', 'copy.5', 'custom-call.1', 'custom-call.2'}
    assert said == ['the instructions of 3 of 8 kernels that CUDA graphs ran cannot be told: they count for the launch of their graph']


@pytest.mark.parametrize('other', ['copy', 'fusion of copies', 'while', 'sort', '__my_kernel'])
def test_instructions_that_may_launch_nothing(tmp_path, other):
    """Between the two named kernels there is one of which nobody knows how many it launches."""
    body = [('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('odd', other), ('b_fusion', 'fusion')]
    found, said = scopes(write(tmp_path, Program(body), replay(['a_fusion', 'x', 'y', 'b_fusion'])))
    assert found == {'a_fusion': (1, 2), 'b_fusion': (1, 2), 'call.1': (2, 4)} and said


def test_equal_fusions_share_a_kernel(tmp_path):
    """Then its name tells neither of them, and the order does."""
    body = [('a_fusion', 'fusion'), ('b_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion.1', 'fusion')]
    found, said = scopes(write(tmp_path, Program(body), replay(['a_fusion', 'b_fusion', 'gemm', 'b_fusion'])))
    assert found == {n: (1, 2) for n, _ in body} and not said
    found, said = scopes(write(tmp_path, Program(body), replay(['a_fusion', 'b_fusion', 'gemm', 'gemm', 'b_fusion'])))
    assert found == {'a_fusion': (1, 2), 'b_fusion': (1, 2), 'custom-call.1': (2, 4), 'b_fusion.1': (1, 2)} and not said


def test_what_shares_a_kernel_looks_alike_and_comes_later(tmp_path):
    """One way is left in the second: the fusion between runs the kernel of the first, so nothing is said of what differs."""
    body = [('a_fusion', 'fusion'), ('b_fusion', 'fusion'), ('c_fusion', 'fusion')]
    names = ['a_fusion', 'a_fusion', 'c_fusion']
    assert scopes(write(tmp_path, Program(body), replay(names)))[0] == {n: (1, 2) for n, _ in body}
    found, said = scopes(write(tmp_path, Program(body, other=['b_fusion']), replay(names)))
    assert 'b_fusion' not in found and said
    found, said = scopes(write(tmp_path, Program(body), replay(['b_fusion', 'b_fusion', 'c_fusion'])))
    assert 'a_fusion' not in found and said  # its kernel would be called after it


def test_streams_of_a_graph(tmp_path):
    """A graph that runs in branches has names and no order: neither where kernels overlap, nor where they stand otherwise."""
    body = BUFFER[:4] + [BUFFER[4]]
    for gemm_at in (9, 5):
        both = ([node('loop_add_fusion', 0, 8), node('input_reduce_fusion_1', 40)], [node('x', gemm_at, 10), node('y', 30)])
        found, said = scopes(write(tmp_path, Program(body), *both))
        assert bool(said) == (gemm_at == 5)
        assert found == ({'loop_add_fusion': (1, 8), 'input_reduce_fusion.1': (1, 2), 'call.1': (2, 12)} if said else
                         {'loop_add_fusion': (1, 8), 'input_reduce_fusion.1': (1, 2), 'custom-call.1': (1, 10), 'custom-call.2': (1, 2)})
    found, said = scopes(write(tmp_path, Program(body), replay(['input_reduce_fusion_1', 'x', 'y', 'loop_add_fusion'])))
    assert found == {'loop_add_fusion': (1, 2), 'input_reduce_fusion.1': (1, 2), 'call.1': (2, 4)} and said


def at(*rows, **more):
    return [node(name, start, dur, **more) for name, start, dur in rows]


BRANCHES = [('x', 90, 5), ('y', 93, 5)]  # these two run beside each other


def test_branches_tell_no_stretch(tmp_path):
    """Of equal layers the second must not count as the first because something else runs beside itself."""
    layers = [(f'{name}{n}', what) for n in ('', '.1') for name, what in (('a_fusion', 'fusion'), ('gemm', GEMM), ('b_fusion', 'fusion'))]
    layer = [('a_fusion', 0, 2), ('product', 10, 2), ('b_fusion', 20, 2)]
    for rows in (layer, layer + BRANCHES):
        found, said = scopes(write(tmp_path, Program(layers, call=False), at(*rows, op='command_buffer')))
        assert said and not {name for name, _ in layers} & set(found)


def test_a_fusions_kernel_is_no_librarys(tmp_path):
    """One that is called as a fusion is that one's or one's that shares it, wherever it stands."""
    body = [('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('c_fusion', 'fusion'), ('b_fusion', 'fusion'), ('b_fusion.1', 'fusion')]
    found, _ = scopes(write(tmp_path, Program(body), at(('a_fusion', 0, 2), ('b_fusion', 10, 1), ('c_fusion', 20, 2), ('product', 30, 3),
                                                        ('b_fusion', 40, 4), *BRANCHES)))
    assert 'custom-call.1' not in found


def test_a_replay_that_was_cut_off(tmp_path):
    """A profile that begins within a replay has the kernel of a later equal fusion, called as the first."""
    body = [('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion', 'fusion'), ('a_fusion.1', 'fusion'), ('c_fusion', 'fusion')]
    names = ['a_fusion', 'product', 'b_fusion', 'a_fusion', 'c_fusion']
    assert scopes(write(tmp_path, Program(body), replay(names)))[0] == {n: (1, 2) for n, _ in body}
    assert 'a_fusion' not in scopes(write(tmp_path, Program(body), replay(names[2:])))[0]


def test_deep_overlaps_are_branches(tmp_path):
    """The next but one begins only when a kernel is over, in a chain; where it does not, order tells nothing, whatever the numbers."""
    body = [('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion', 'fusion'), ('custom-call.2', GEMM), ('c_fusion', 'fusion')]
    rows = [('a_fusion', 0, 9), ('g1', 3, 2), ('b_fusion', 7, 4), ('g2', 20, 2), ('c_fusion', 30, 2)]
    numbers = [1, 20, 3, 22, 5]
    found, _ = scopes(write(tmp_path, Program(body), [node(*r, cuda_graph_node_id=n) for r, n in zip(rows, numbers)]))
    assert set(found) == {'a_fusion', 'b_fusion', 'c_fusion', 'call.1'}


def test_kernels_that_begin_together(tmp_path):
    """What is told depends neither on the order of lines nor on what else they hold."""
    body = [('a_fusion', 'fusion'), ('c_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion', 'fusion')]
    a = [node('a_fusion', 0, 2, cuda_graph_node_id=1)]
    rest = [node('c_fusion', 0, 2, cuda_graph_node_id=2), node('product', 3, 4, cuda_graph_node_id=30), node('b_fusion', 20, 4, cuda_graph_node_id=5)]
    others = [node(f'z{i}', 100 + 3 * i, 1, graph=None, op='none') for i in range(300)]
    told = [scopes(write(tmp_path, Program(body), *lines))[0] for lines in ((a, rest), (rest, a), (a + others, rest), (a, rest + others))]
    assert {'custom-call.1', 'a_fusion', 'b_fusion', 'c_fusion'} <= set(told[0])
    for found in told[1:]:
        assert {n: found[n] for n, _ in body} == {n: told[0][n] for n, _ in body}


def test_launches_must_be_told_apart(tmp_path):
    """Without correlation ids nobody knows where a replay ends; names count where they stand once."""
    found, said = scopes(write(tmp_path, Program(BUFFER), replay(KERNELS, launch=None)))
    assert found == {'loop_add_fusion': (1, 2), 'input_reduce_fusion.1': (1, 2), 'loop_exp_fusion': (1, 2), 'call.1': (4, 8)} and said


def test_another_bodys_name(tmp_path):
    """A kernel that is called as a fusion outside of what was recorded is one that shares it."""
    program = Program([('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion', 'fusion')])
    found, said = scopes(write(tmp_path, program, replay(['a_fusion', 'call_1', 'x', 'b_fusion'])))
    assert found == {'a_fusion': (1, 2), 'custom-call.1': (2, 4), 'b_fusion': (1, 2)} and not said


STRETCH = [('before_fusion', 'fusion'), ('a_fusion', 'fusion'), ('custom-call.1', GEMM), ('b_fusion', 'fusion'), ('custom-call.2', GEMM),
           ('after_fusion', 'fusion')]


def test_a_stretch_of_a_program(tmp_path):
    """Newer XLA records thunks, and no computation says which: what lies between two names is known, what lies outside is not."""
    program = Program(STRETCH, call=False)
    path = write(tmp_path, program, replay(['a_fusion', 'gemm', 'b_fusion', 'gemm'], op='command_buffer'))
    found, said = scopes(path)
    assert found.pop('(no scope)', found.pop('command_buffer', None)) == (1, 2)
    assert found == {'a_fusion': (1, 2), 'custom-call.1': (1, 2), 'b_fusion': (1, 2)} and said


def stretch(tmp_path, names, other=(), **more):
    found, said = scopes(write(tmp_path, Program(STRETCH, call=False, other=other), replay(names, op='command_buffer', **more)))
    return {n: found[n] for n, _ in STRETCH if n in found}, said


def test_equal_stretches_of_a_program(tmp_path):
    """Fusions that share kernels leave one way where order and counts do: of which one it is the kernels of libraries tell."""
    assert stretch(tmp_path, ['a_fusion', 'gemm', 'gemm', 'b_fusion']) == ({'a_fusion': (1, 2), 'custom-call.1': (2, 4), 'b_fusion': (1, 2)}, [])
    assert stretch(tmp_path, ['b_fusion', 'gemm', 'a_fusion']) == ({'b_fusion': (1, 2), 'custom-call.2': (1, 2), 'after_fusion': (1, 2)}, [])
    assert stretch(tmp_path, ['before_fusion', 'gemm', 'b_fusion']) == ({'a_fusion': (1, 2), 'custom-call.1': (1, 2), 'b_fusion': (1, 2)}, [])


@pytest.mark.parametrize('names, other', [(['b_fusion', 'gemm', 'a_fusion'], 'after_fusion'), (['before_fusion', 'gemm', 'b_fusion'], 'a_fusion'),
                                          (['b_fusion', 'a_fusion'], 'after_fusion'), (['a_fusion', 'b_fusion'], '')])
def test_a_stretch_that_does_not_fit(tmp_path, names, other):
    """A fusion that differs from the one named cannot run its kernel, and what lies between launches at least one."""
    found, said = stretch(tmp_path, names, other=[other])
    assert not found and said


def test_one_name_may_be_of_several(tmp_path):
    """Two equal fusions without a name of their own in the replay; of different ones there is one way."""
    assert not stretch(tmp_path, ['a_fusion', 'gemm'])[0]
    assert stretch(tmp_path, ['a_fusion', 'gemm'], other=['b_fusion', 'after_fusion'])[0] == {'a_fusion': (1, 2)}


def test_neighbours_tell_which_of_equal_stretches(tmp_path):
    """What ran before and after the graph on its stream names itself."""
    body = [('conv.1', CONV), ('a_fusion', 'fusion'), ('conv.2', CONV), ('b_fusion', 'fusion'), ('conv.3', CONV)]

    def between(before, after):
        events = [node('x', 0, graph=None, op=before), node('a_fusion', 10, op='command_buffer'), node('y', 20, graph=None, op=after)]
        return {k for k in scopes(write(tmp_path, Program(body, call=False), events))[0] if 'fusion' in k}
    assert between('conv.1', 'conv.2') == {'a_fusion'} and between('conv.2', 'conv.3') == {'b_fusion'}
    assert between(None, 'conv.3') == {'b_fusion'} and between('conv.1', None) == {'a_fusion'}
    assert not between(None, None) and not between('conv.3', 'conv.1')  # other runs of the program


def test_kernels_of_a_graph_overlap(tmp_path):
    """The next kernel of a graph begins before the last is over (Hopper); the numbers of its nodes say that they are a chain all the same."""
    names = ['a_fusion', 'b_fusion', 'a_fusion']
    body = [('a_fusion', 'fusion'), ('b_fusion', 'fusion'), ('c_fusion', 'fusion')]
    overlapping = [node(n, 2 * i, 3, cuda_graph_node_id=i + 7) for i, n in enumerate(names)]
    assert scopes(write(tmp_path, Program(body), overlapping))[0] == {n: (1, 3 if n == 'c_fusion' else 2) for n, _ in body}
    branches = [node(n, 2 * i, 3, cuda_graph_node_id=i ^ 1) for i, n in enumerate(names)]
    assert 'c_fusion' not in scopes(write(tmp_path, Program(body), branches))[0]


def test_what_the_event_says_stands(tmp_path):
    """A node that names an instruction itself keeps it; so does what is in no graph, and copies of memory are no kernels."""
    events = [node('x', 0, op='custom-call.2'), node('loop_add_fusion', 10, graph=None, op='loop_exp_fusion'),
              node('MemcpyD2D', 20), node('Memset 1', 30)]
    found, said = scopes(write(tmp_path, Program(BUFFER), events))
    assert found['custom-call.2'] == (1, 2) and found['loop_exp_fusion'] == (1, 2) and found['call.1'] == (2, 4)
    assert not said


def test_another_program_is_not_asked(tmp_path):
    found, said = scopes(write(tmp_path, Program(BUFFER), replay(KERNELS, program_id=8)))
    assert len(found) == 1 and said == [f'the instructions of {len(KERNELS)} of {len(KERNELS)} kernels that CUDA graphs ran cannot be told: '
                                        'they count for the launch of their graph']


def test_the_rule_of_names_on_real_files():
    """Of every kernel of a fusion in the shared profiles of GPUs: its name is the instruction's, with _ for what PTX does not take."""
    files = [p for p in TRACES.rglob('*.xplane.pb') if p.parts[len(TRACES.parts)] in ('jax_gpu_rocm', 'xla_gpu_cuda')]
    seen = 0
    for path in files:
        for plane in reference.xspace(str(path)):
            for line in plane.lines if re.match(r'/device:GPU', plane.name) else ():
                for _, _, meta, stats in line.events:
                    name, op = plane.meta[meta][0], stats.get('hlo_op') or ''
                    if re.search('fusion|^wrapped', op):
                        assert name.removesuffix('.kd') == re.sub(r'[^A-Za-z0-9$]', '_', op)
                        seen += 1
    assert seen > 1


def test_cut_anywhere(tmp_path):
    path = write(tmp_path, Program(BUFFER), replay(KERNELS))
    whole = path.read_bytes()
    for n in range(0, len(whole), 37):
        path.write_bytes(whole[:n])
        done = subprocess.run([PROGRAM, 'report', '--format', 'json', path], capture_output=True, check=False)
        assert done.returncode in (0, 1, 2, 3, 4) and b'Sanitizer' not in done.stderr, (n, done.stderr)
