"""F50 to F53 on built programs: what they fire for, and what only looks like it (docs/reference/metrics.md#avoidable-work)."""
import json
import sys

import pytest

from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, hlo, wire  # noqa: E402
from gen.planted import CpuLoop, looked_up, loss_and_training, product, small_products, square  # noqa: E402
from gen.scene import MS, US  # noqa: E402

V = hlo.Value


def steps(values, ops):
    """Steps of one program on the CPU."""
    loop = CpuLoop()
    loop.program(3, 'jit_step', values)
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', ops))
    return loop.scene


def report(scene, folder):
    return json.loads(view_profile('report', '--format=json', str(files.write(scene, 'xspace', folder))).stdout)


def finding(scene, folder, rule):
    found = json.loads(view_profile('findings', '--format=json', str(files.write(scene, 'xspace', folder))).stdout)
    return next(f for f in found['findings'] if f['id'] == rule)


def avoidable(scene, folder, part):
    """{op: ps} of a part that is not 0."""
    return {o['name']: o['avoidable'][part] for o in report(scene, folder)['ops'] if o['avoidable'][part]}


LOOK_UP = [('one_hot.6', 2 * MS), ('dot.7', 6 * MS), ('exp.8', 2 * MS)]


def test_a_one_hot_matmul_and_what_makes_its_rows(tmp_path):
    assert avoidable(steps(looked_up(), LOOK_UP), tmp_path, 'lookup_ps') == {'dot': 48 * MS, 'one_hot': 16 * MS}


@pytest.mark.parametrize('values', [
    pytest.param(looked_up(64), id='narrow'),
    pytest.param(looked_up(direction=wire.text(63, 'GE')), id='triangle'),
])
def test_no_one_hot_matmul(values, tmp_path):
    assert finding(steps(values, LOOK_UP), tmp_path, 'F50')['status'] == 'clear'


def test_a_projection_to_a_vocabulary_is_no_look_up(tmp_path):
    table = V('table.2', 'parameter', (512, 8192), 'parameter')
    logits = V('dot.3', 'dot', (512, 8192), 'temp', (0, 1), line=9, more=hlo.contracting(1, 0), freed_at=3)
    back = V('dot.4', 'dot', (512, 512), 'output', (2, 1), line=9, more=hlo.contracting(1, 1))
    scene = steps([square('x.1'), table, logits, back], [('dot.3', 5 * MS), ('dot.4', 5 * MS)])
    assert finding(scene, tmp_path, 'F50')['status'] == 'clear'


def updated(rows, other=()):
    """A gradient of `rows` rows of a table of 4096, scattered into zeros, and the new table."""
    return [V('table.1', 'parameter', (4096, 64), 'parameter'), V('ids.2', 'parameter', (rows,), 'parameter', type=hlo.S32),
            V('rows.3', 'parameter', (rows, 64), 'parameter'), V('zero.4', 'constant', (), 'temp', more=hlo.ZERO, freed_at=4),
            V('zeros.5', 'broadcast', (4096, 64), 'temp', (3,), freed_at=5),
            V('grad.6', 'scatter', (4096, 64), 'temp', (4, 1, 2), freed_at=6),
            V('sub.7', 'subtract', (4096, 64), 'output', (0, other or 5))]


UPDATE = [('zeros.5', 1 * MS), ('grad.6', 2 * MS), ('sub.7', 3 * MS)]


def test_an_update_of_a_table_of_which_few_rows_have_gradients(tmp_path):
    assert avoidable(steps(updated(256), UPDATE), tmp_path, 'update_ps') == {'zeros': 8 * MS, 'sub': 24 * MS}


def test_the_norm_of_a_gradient_of_few_rows(tmp_path):
    values = updated(256)
    values[-1:] = [V('mul.7', 'multiply', (4096, 64), 'temp', (5, 5), freed_at=7), V('norm.8', 'reduce', (), 'temp', (6, 3), freed_at=9),
                   V('clip.9', 'broadcast', (4096, 64), 'temp', (7,), freed_at=9),
                   V('scaled.10', 'multiply', (4096, 64), 'temp', (5, 8), freed_at=10),
                   V('sub.11', 'subtract', (4096, 64), 'output', (0, 9))]
    scene = steps(values, [('mul.7', 1 * MS), ('norm.8', 2 * MS), ('scaled.10', 1 * MS), ('sub.11', 3 * MS)])
    assert avoidable(scene, tmp_path, 'update_ps') == {'mul': 8 * MS, 'norm': 16 * MS, 'scaled': 8 * MS, 'sub': 24 * MS}


def test_updates_are_at_most_medium(tmp_path):
    found = finding(steps(updated(256), UPDATE), tmp_path, 'F50')
    assert (found['status'], found['severity'], found['impact']['time_ps']) == ('fired', 'medium', 8 * 4 * MS)
    assert 'updates of all rows for gradients of few rows; most in sub' in found['message']


def test_an_update_of_most_rows(tmp_path):
    assert avoidable(steps(updated(2048), UPDATE), tmp_path, 'update_ps') == {}


def test_an_update_of_a_table_that_is_also_the_output_layer(tmp_path):
    values = updated(256)
    values[-1:] = [V('x.7', 'parameter', (4096, 128), 'parameter'), V('y.8', 'parameter', (128, 64), 'parameter'),
                   V('dot.9', 'dot', (4096, 64), 'temp', (6, 7), more=hlo.contracting(1, 0), freed_at=9),
                   V('add.10', 'add', (4096, 64), 'temp', (5, 8), freed_at=10),
                   V('sub.11', 'subtract', (4096, 64), 'output', (0, 9))]
    scene = steps(values, [('zeros.5', 1 * MS), ('grad.6', 2 * MS), ('dot.9', 3 * MS), ('add.10', 1 * MS), ('sub.11', 3 * MS)])
    assert avoidable(scene, tmp_path, 'update_ps') == {}


def test_a_program_from_other_lines_repeats_nothing(tmp_path):
    assert finding(loss_and_training((9, 12)), tmp_path, 'F52')['status'] == 'clear'


def test_the_repeated_program_is_named(tmp_path):
    modules = {m['name']: m['repeats'] for m in report(loss_and_training(), tmp_path)['modules']}
    assert modules == {'jit_step': None, 'jit_loss': 'jit_step'}


def test_small_products_of_one_shape(tmp_path):
    values = small_products(40)
    assert avoidable(steps(values, [(v.name, 5 * US) for v in values[3:]]), tmp_path, 'unrolled_ps') == {'dot': 8 * 39 * 5 * US}


@pytest.mark.parametrize('values, each', [
    pytest.param(small_products(40, chained=True), 5 * US, id='each of the last result'),
    pytest.param(small_products(7), 5 * US, id='few'),
    pytest.param(small_products(40), 11 * US, id='long'),
    pytest.param(small_products(40, of=0), 5 * US, id='of whole arguments'),
])
def test_no_batch(values, each, tmp_path):
    assert avoidable(steps(values, [(v.name, each) for v in values[3:]]), tmp_path, 'unrolled_ps') == {}


def test_small_products_take_at_least_their_flop_at_the_rate_of_a_larger_one(tmp_path):
    """A product of 256 x 256 x 256 in 512 µs: 2 * 32^3 FLOP take 1 µs at this rate."""
    values = [square('x.1', 32), square('w.2', 32), square('y.3', 256), product('large.4', (2, 2), 8, side=256)]
    values += [V('neg.5', 'negate', (32, 32), 'output', (0,))]
    values += [product(f'dot.{i + 10}', (4, 1), 9, side=32) for i in range(40)]
    scene = steps(values, [('large.4', 512 * US), *((v.name, 5 * US) for v in values[5:])])
    assert avoidable(scene, tmp_path, 'unrolled_ps') == {'dot': 8 * 40 * 4 * US}


# ---- programs of several computations ----


def instruction(number, name, opcode, shape, operands=(), called=(), more=b'', scope='', line=0):
    out = wire.text(1, name) + wire.text(2, opcode) + wire.bytes_(3, shape) + more
    if line:
        out += wire.bytes_(7, wire.text(2, scope) + wire.text(3, 'model.py') + wire.number(4, line))
    out += wire.number(35, number) + b''.join(wire.number(36, o) for o in operands)
    return wire.bytes_(2, out + b''.join(wire.number(38, c) for c in called))


def computation(number, name, root, *instructions, fusion=False):
    return wire.bytes_(3, wire.text(1, name) + wire.number(5, number) + wire.number(6, root) + b''.join(instructions)
                       + (wire.number(7, 1) if fusion else b''))


def array(*dims):
    return wire.number(2, hlo.F32) + b''.join(wire.number(3, d) for d in dims)


def module(entry, *others):
    return wire.bytes_(1, wire.text(1, 'jit_step') + wire.text(2, 'main') + wire.number(5, 3) + wire.number(6, 1) + b''.join(others) + entry)


def runs(proto, *ops):
    """Steps of this program: (op, ps) each."""
    loop = CpuLoop()
    loop.host.programs.append((3, 'jit_step', proto))
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', ops))
    return loop.scene


def layout(*minor_to_major):
    return wire.bytes_(5, b''.join(wire.number(1, d) for d in minor_to_major))


def test_a_fusion_that_transposes_and_adds_is_half_a_change_of_layout(tmp_path):
    rows, columns = array(512, 512) + layout(1, 0), array(512, 512) + layout(0, 1)
    added = computation(2, 'fused', 14, instruction(11, 'p.11', 'parameter', columns, more=wire.number(9, 0)),
                        instruction(12, 'p.12', 'parameter', rows, more=wire.number(9, 1)),
                        instruction(13, 'copy.13', 'copy', rows, [11]), instruction(14, 'add.14', 'add', rows, [12, 13]), fusion=True)
    moved = computation(3, 'moved', 22, instruction(21, 'p.21', 'parameter', columns, more=wire.number(9, 0)),
                        instruction(22, 'copy.22', 'copy', rows, [21]), fusion=True)
    entry = computation(1, 'main', 4, instruction(1, 'x.1', 'parameter', columns, more=wire.number(9, 0)),
                        instruction(2, 'y.2', 'parameter', rows, more=wire.number(9, 1)),
                        instruction(3, 'fusion.3', 'fusion', rows, [1], [3]), instruction(4, 'loop.4', 'fusion', rows, [1, 2], [2]))
    scene = runs(module(entry, added, moved), ('fusion.3', 2 * MS), ('loop.4', 2 * MS))
    assert avoidable(scene, tmp_path, 'fused_layout_ps') == {'fusion': 8 * 2 * MS, 'loop': 8 * 1 * MS}


# ---- loops ----

STATE = wire.number(2, 13) + wire.bytes_(4, array(256, 256)) + wire.bytes_(4, array(256, 256))  # h, w


def body(number, base, scope, line, keeps=True):
    """A loop's body: h @ w. keeps: it leaves w as it is."""
    element = [instruction(base + 2 + i, f'gte.{base + 2 + i}', 'get-tuple-element', array(256, 256), [base + 1], more=wire.number(13, i))
               for i in range(2)]
    return computation(number, f'body.{number}', base + 5, instruction(base + 1, f'state.{base + 1}', 'parameter', STATE), *element,
                       instruction(base + 4, f'dot.{base + 4}', 'dot', array(256, 256), [base + 2, base + 3],
                                   more=hlo.contracting(1, 0), scope=scope, line=line),
                       instruction(base + 5, f'tuple.{base + 5}', 'tuple', STATE, [base + 4, base + (3 if keeps else 4)]))


def two_loops(line=9, other=1, keeps=True):
    """The forward pass of a gradient, and that of a loss. other: the first value of the second loop."""
    loops = [body(2, 100, 'jit(step)/jvp()/while/body/dot_general', 9), body(3, 200, 'jit(step)/while/body/dot_general', line, keeps)]
    arguments = [instruction(i, f'x.{i}', 'parameter', array(256, 256), more=wire.number(9, i - 1)) for i in (1, 2, 3)]
    entry = computation(1, 'main', 8, *arguments, instruction(4, 'tuple.4', 'tuple', STATE, [1, 2]),
                        instruction(5, 'while.5', 'while', STATE, [4], [2]), instruction(6, 'tuple.6', 'tuple', STATE, [other, 2]),
                        instruction(7, 'while.7', 'while', STATE, [6], [3]), instruction(8, 'tuple.8', 'tuple', STATE, [5, 7]))
    return runs(module(entry, *loops), ('dot.104', 2 * MS), ('dot.204', 2 * MS))


def test_a_loop_whose_products_another_loop_computes(tmp_path):
    assert avoidable(two_loops(), tmp_path, 'repeated_ps') == {'dot': 8 * 2 * MS}
    found = finding(two_loops(), tmp_path / 'again', 'F52')
    assert (found['status'], found['impact']['time_ps']) == ('fired', 8 * 2 * MS)
    assert 'a loop whose matmuls another loop computes as well; most in dot at model.py:9 of jit_step' in found['message']


@pytest.mark.parametrize('scene', [
    pytest.param(lambda: two_loops(12), id='from another line'),
    pytest.param(lambda: two_loops(other=3), id='of other data'),
    pytest.param(lambda: two_loops(keeps=False), id='with other weights'),
])
def test_no_repeated_loop(scene, tmp_path):
    assert avoidable(scene(), tmp_path, 'repeated_ps') == {}


# ---- recomputation ----


def with_remat(*weights):
    """Products of x with these weights, by number; the last two in the backward pass of jax.checkpoint."""
    scopes = ['jvp()'] * (len(weights) - 2) + ['transpose(jvp())/checkpoint/rematted_computation'] * 2
    values = [square('x.1'), square('w.2'), square('w.3')]
    values += [product(f'dot.{i + 10}', (0, w), 9, f'jit(step)/{scope}/dot_general') for i, (w, scope) in enumerate(zip(weights, scopes))]
    return steps(values, [(v.name, 2 * MS) for v in values[3:]])


def test_products_that_are_computed_again(tmp_path):
    assert avoidable(with_remat(1, 2, 1, 2), tmp_path, 'recomputed_ps') == {'dot': 8 * 4 * MS}


def test_products_that_the_compiler_merged_are_computed_once(tmp_path):
    assert avoidable(with_remat(1, 1, 2), tmp_path / '1', 'recomputed_ps') == {'dot': 8 * 2 * MS}
    assert avoidable(with_remat(1, 2), tmp_path / '2', 'recomputed_ps') == {}


def test_of_two_programs_with_the_same_products_the_shorter_repeats(tmp_path):
    loop = CpuLoop()
    values = [square('x.1'), square('w.2'), product('dot.3', (0, 1), 9, 'jit(step)/jvp()/dot_general'),
              product('dot.4', (0, 2), 9, 'jit(step)/transpose(jvp())/dot_general')]
    loop.program(3, 'jit_step', [*values, V('sub.5', 'subtract', (512, 512), 'output', (1, 3))])
    loop.program(5, 'jit_norm', values)

    def body():
        loop.launch(5, 'jit_norm', [('dot.3', 2 * MS), ('dot.4', 2 * MS)])
        loop.launch(3, 'jit_step', [('dot.3', 2 * MS), ('dot.4', 2 * MS)])
    for n in range(8):
        loop.step(n, body)
    assert {m['name']: m['repeats'] for m in report(loop.scene, tmp_path)['modules']} == {'jit_step': None, 'jit_norm': 'jit_step'}


# ---- copies of arguments ----


def copied(temporary):
    """A copy of an argument of 16 MiB that is not donated, 1 ms after each launch; temporary: elements of another value."""
    loop = CpuLoop()
    kept = V('exp.3', 'exponential', (temporary,), 'temp', (0,), freed_at=2)
    values = [V('table.1', 'parameter', (1 << 22,), 'parameter'), kept, V('copy.2', 'copy', (1 << 22,), 'output', (0,))]
    loop.host.programs.append((3, 'jit_step', hlo.proto('jit_step', 3, values, kept.size())))

    def body():
        loop.launch(3, 'jit_step', [('copy.2', 4 * MS)])
        loop.device.ops[-1].start += 1 * MS
        loop.t += 1 * MS
    for n in range(8):
        loop.step(n, body)
    return loop.scene


@pytest.mark.parametrize('temporary, idle', [pytest.param(64, 7 * MS, id='alone'), pytest.param(1 << 22, 7 * MS // 2, id='half')])
def test_memory_of_results_that_are_not_donated_is_allocated_before_each_run(temporary, idle, tmp_path):
    found = finding(copied(temporary), tmp_path, 'F36')
    assert abs(found['impact']['time_ps'] - (8 * 4 * MS + idle)) < 300 * US, found['impact']
    assert 'waits' in found['message']


@pytest.mark.parametrize('during, slowed', [(3 * MS, 8 * 2 * MS), (1 * MS, 0)])
def test_ops_that_take_longer_during_copies_of_arguments(during, slowed, tmp_path):
    loop = CpuLoop()
    values = [V('table.1', 'parameter', (1 << 22,), 'parameter'), V('x.2', 'parameter', (1 << 16,), 'parameter'),
              V('exp.3', 'exponential', (1 << 16,), 'temp', (1,), freed_at=3), V('exp.4', 'exponential', (1 << 16,), 'temp', (2,), freed_at=4),
              V('copy.5', 'copy', (1 << 22,), 'output', (0,))]
    loop.program(3, 'jit_step', values)

    def body():
        loop.launch(3, 'jit_step', [('copy.5', 4 * MS), ('exp.4', 1 * MS), ('exp.3', during)])
        copy, last = loop.device.ops[-3], loop.device.ops[-1]
        last.start = copy.start + 100 * US
    for n in range(8):
        loop.step(n, body)
    assert sum(avoidable(loop.scene, tmp_path, 'copy_slowed_ps').values()) == slowed


# ---- functions ----


@pytest.mark.parametrize('function, named', [
    ('train.<locals>.loss', 'loss (model.py:9)'), ('Model.__call__', 'Model.__call__ (model.py:9)'),
    ('attend.<locals>.<listcomp>', 'attend (model.py:9)'), ('<lambda>', '<lambda> (model.py:9)'), ('<module>', None),
])
def test_the_function_of_an_op(function, named, tmp_path):
    """From the stack frame of its instruction."""
    frames = wire.text(1, '/job/model.py') + wire.text(2, function)
    frames += wire.bytes_(3, wire.number(1, 1) + wire.number(2, 1) + wire.number(3, 9)) + wire.bytes_(4, wire.number(1, 1))
    dot = instruction(2, 'dot.2', 'dot', array(64, 64), [1, 1], more=hlo.contracting(1, 0) + wire.bytes_(7, wire.number(15, 1)))
    entry = computation(1, 'main', 2, instruction(1, 'x.1', 'parameter', array(64, 64), more=wire.number(9, 0)), dot)
    ops = report(runs(module(entry, wire.bytes_(17, frames)), ('dot.2', 2 * MS)), tmp_path)['ops']
    assert [(o['name'], o['caller']) for o in ops] == [('dot', named)]
