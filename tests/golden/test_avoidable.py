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
    assert avoidable(steps(values, [(v.name, 5 * US) for v in values[2:]]), tmp_path, 'unrolled_ps') == {'dot': 8 * 39 * 5 * US}


@pytest.mark.parametrize('values, each', [
    pytest.param(small_products(40, chained=True), 5 * US, id='each of the last result'),
    pytest.param(small_products(7), 5 * US, id='few'),
    pytest.param(small_products(40), 11 * US, id='long'),
])
def test_no_batch(values, each, tmp_path):
    assert avoidable(steps(values, [(v.name, each) for v in values[2:]]), tmp_path, 'unrolled_ps') == {}


def test_small_products_take_at_least_their_flop_at_the_rate_of_a_larger_one(tmp_path):
    """A product of 256 x 256 x 256 in 512 µs: 2 * 32^3 FLOP take 1 µs at this rate."""
    values = [square('x.1', 32), square('w.2', 32), square('y.3', 256), product('large.4', (2, 2), 8, side=256)]
    values += [product(f'dot.{i + 10}', (0, 1), 9, side=32) for i in range(40)]
    scene = steps(values, [('large.4', 512 * US), *((v.name, 5 * US) for v in values[4:])])
    assert avoidable(scene, tmp_path, 'unrolled_ps') == {'dot': 8 * 40 * 4 * US}
