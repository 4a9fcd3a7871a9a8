"""Memory profiles of a real JAX program: its leak is found with its line, and none once it is mended."""
import json
import pathlib
import subprocess
import sys

import pytest
from common import view_profile

HERE = pathlib.Path(__file__).resolve().parent


def findings(tmp_path, how):
    run = tmp_path / 'plugins' / 'profile' / how
    run.mkdir(parents=True)
    subprocess.run([sys.executable, HERE / 'leaking_loop.py', run, how], check=True, timeout=300)
    found = json.loads(view_profile('findings', '--format=json', str(run)).stdout)['findings']
    return {f['id']: f for f in found if f['status'] != 'not_evaluated'}


@pytest.mark.parametrize('how,status', [('leak', 'fired'), ('mended', 'clear')])
def test_a_leak_is_found_until_it_is_mended(tmp_path, how, status):
    found = findings(tmp_path, how)
    assert found['F30']['status'] == status
    assert [i for i, f in found.items() if f['status'] == 'fired'] == (['F30'] if how == 'leak' else [])
    if how == 'leak':
        assert '256.0 KiB more after every step, in 5 of 5 steps, taken by remember (' in found['F30']['message']
        assert 'leaking_loop.py:18)' in found['F30']['message']
