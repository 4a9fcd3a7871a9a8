"""scripts/map_reports on a real Dask cluster of two workers: the reports of ranks, analysed one a
task and merged in stages, are the report of the whole session."""
import json
import os
import subprocess
import sys
import tarfile

from common import trace
from conftest import ROOT, find_program

RANKS = 'archives/facebookresearch__param/dlrm_kineto.tar.gz'


def without_identity(report):
    """What differs where files are analysed alone: who they are, not what they say."""
    report.pop('session')
    for q in report['quality']:
        q.pop('file')
    return report


def test_eight_ranks_on_two_workers(tmp_path):
    env = {**os.environ, 'VIEW_PROFILE': find_program(), 'PYTHONUNBUFFERED': '1'}
    with tarfile.open(trace(RANKS)) as archive:
        archive.extractall(tmp_path / 'run', filter='data')
    files = sorted(str(p) for p in (tmp_path / 'run').rglob('*.json*'))
    assert len(files) == 8
    merged, whole = tmp_path / 'merged.json', tmp_path / 'whole.json'
    subprocess.run([sys.executable, str(ROOT / 'scripts/map_reports'), '-o', str(merged), *reversed(files)],
                   check=True, env=env, timeout=300)
    subprocess.run([env['VIEW_PROFILE'], 'report', '--quiet', '--format', 'json', '-o', str(whole),
                    str(trace(RANKS))], check=True, timeout=120)
    got, want = json.loads(merged.read_text()), json.loads(whole.read_text())
    assert got['session']['hosts'] == want['session']['hosts'] and len(got['devices']) == 8
    assert without_identity(got) == without_identity(want)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith('tmp')]  # the stages are gone
