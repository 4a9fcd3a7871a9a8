"""Memory of real JAX programs: what they waste is found with its place, and nothing once it is mended."""
import json
import pathlib
import subprocess
import sys

import pytest
from common import view_profile
from conftest import JAX

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen.tpu_layout import tile_matrices  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def findings(tmp_path, how):
    run = tmp_path / 'plugins' / 'profile' / how
    run.mkdir(parents=True)
    subprocess.run([JAX, HERE / 'leaking_loop.py', run, how], check=True, timeout=300)
    found = json.loads(view_profile('findings', '--format=json', str(run)).stdout)['findings']
    return {f['id']: f for f in found if f['status'] != 'not_evaluated'}


@pytest.mark.parametrize('how,status', [('leak', 'fired'), ('mended', 'clear')])
def test_a_leak_is_found_until_it_is_mended(tmp_path, how, status):
    found = findings(tmp_path, how)
    assert found['F30']['status'] == status
    assert [i for i, f in found.items() if f['status'] == 'fired'] == (['F30'] if how == 'leak' else [])
    if how == 'leak':
        assert '256.0 KiB more after each step (in 5 of 5 steps), allocated by remember (' in found['F30']['message']
        assert 'leaking_loop.py:18)' in found['F30']['message']


# ---- a missing donation, a leak and a padded matrix ----------------------------------------------

MEMORY_RULES = ('F22', 'F30', 'F31', 'F32', 'F36', 'F37', 'F38', 'F39')


@pytest.fixture(scope='module')
def wasteful(tmp_path_factory):
    """how → the run of wasteful_loop.py, profiled by JAX on CPU, and its findings on memory by id.

    Real: the program, its plan (so the donation that is missing and the one that is made), its steps and what they leave
    behind. XLA:CPU has no tiles, so TPU's are put in afterwards, into both runs alike (gen/tpu_layout.py)."""
    root, made = tmp_path_factory.mktemp('wasteful'), {}

    def run(how):
        if how not in made:
            subprocess.run([JAX, HERE / 'wasteful_loop.py', root / how, how], check=True, timeout=300)
            trace, = (root / how).rglob('*.xplane.pb')
            trace.write_bytes(tile_matrices(trace.read_bytes()))
            found = json.loads(view_profile('findings', '--format=json', str(root / how)).stdout)['findings']
            made[how] = {f['id']: f for f in found if f['id'] in MEMORY_RULES}
        return root / how, made[how]

    return run


def test_a_wasteful_program_gets_its_three_findings(wasteful):
    _, found = wasteful('bad')
    assert {i for i, f in found.items() if f['status'] in ('fired', 'explained')} == {'F30', 'F36', 'F37'}
    assert found['F36']['impact']['bytes'] == 512 * 1024 * 4 and 'argument 0 (state.1, state)' in found['F36']['message']
    # … for the line that makes the state
    line = next(i for i, x in enumerate((HERE / 'wasteful_loop.py').read_text().splitlines(), 1) if 'state * 0.999' in x)
    assert f'wasteful_loop.py:{line})' in found['F36']['message']
    assert found['F30']['impact']['bytes'] == 5 * 512 * 1024
    assert found['F37']['impact']['bytes'] == 131072 * (128 - 3) * 4
    assert 'table.1 (f32[131072,3]{1,0:T(8,128)}) in table: dimension 1: 3 of 128, wastes 62.5 MiB' in found['F37']['message']
    assert '512.0 KiB more after each step (in 5 of 5 steps)' in found['F30']['message']
    assert 'wasteful_loop.py:' in found['F30']['message']


def test_none_once_they_are_mended(wasteful):
    _, found = wasteful('mended')
    assert {i: f['message'] for i, f in found.items() if f['status'] in ('fired', 'explained')} == {}
    assert [found[i]['status'] for i in ('F30', 'F36', 'F37', 'F38', 'F39')] == 5 * ['clear']


@pytest.mark.parametrize('how', ['bad', 'mended'])
def test_the_plan_is_what_jax_says_of_it(wasteful, how):
    """compiled.memory_analysis() of the same program, of what no tile changes; and the tiles by arithmetic."""
    path, _ = wasteful(how)
    plan = next(p for p in json.loads(view_profile('memory', '--format=json', str(path)).stdout)['memory_static']
                if p['module'] == 'jit_step' and p['ran'])
    said = json.loads((path / 'memory_analysis.json').read_text())
    table = 131072 * 128 * 4 if how == 'bad' else 3072 * 128 * 4
    assert plan['parameter_bytes'] == said['argument'] - 131072 * 3 * 4 + table
    assert (plan['live_out_bytes'], plan['alias_bytes'], plan['temp_bytes']) == (said['output'], said['alias'], said['temp'])
