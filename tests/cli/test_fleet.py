"""The lines of docs/fleet.md, run against programs that print what kubectl, squeue and scontrol print."""
import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT
from test_watch import STAND_IN, WAIT, Job, steady

PAGE = ROOT / 'docs' / 'fleet.md'
PODS = {'train-0': '10.1.0.4', 'train-1': '10.1.0.5'}
STUBS = {
    # Of jsonpath only what the page uses: it is checked, not interpreted.
    'kubectl': f'''#!{sys.executable}
import sys
assert sys.argv[1:7] == ['get', 'pods', '-l', 'app=train', '--field-selector', 'status.phase=Running'], sys.argv
assert sys.argv[7:] == ['-o', r'jsonpath={{range .items[*]}}{{.metadata.name}}={{.status.podIP}}:9012{{"\\n"}}{{end}}'], sys.argv
for name, ip in {PODS!r}.items():
    print(f'{{name}}={{ip}}:9012')
''',
    'squeue': f'''#!{sys.executable}
import sys
assert sys.argv[1:] == ['--noheader', '--job', '4711', '--format', '%N'], sys.argv
print('node[01-03]')
''',
    'scontrol': f'''#!{sys.executable}
import sys
assert sys.argv[1:] == ['show', 'hostnames', 'node[01-03]'], sys.argv
print('node01', 'node02', 'node03', sep=chr(10))
'''}


@pytest.fixture
def shell(place, tmp_path):
    for name, text in STUBS.items():
        path = tmp_path / 'bin' / name
        path.write_text(text)
        path.chmod(0o755)
    env = {**place.env, 'JOB': '4711', 'VIEW_PROFILE_TEST_CAPTURE': str(STAND_IN), 'CAPTURE_JOBS': str(tmp_path / 'job')}

    def run(block):
        block = re.sub(r'(view_profile watch [^\n]*)', r'\1 --times 2 --every 100ms --duration 10ms', re.sub(r' --every \w+', '', block))
        done = subprocess.run(['bash', '-euo', 'pipefail', '-c', block], cwd=place.dir, env=env, capture_output=True, text=True,
                              timeout=WAIT)
        assert done.returncode == 0, done.stderr
        return done
    return run


def blocks():
    return re.findall(r'```sh\n(.*?)```', PAGE.read_text(), flags=re.S)


def test_pods_are_watched_by_their_names(shell, place, tmp_path):
    for ip in PODS.values():
        steady(Job(tmp_path, f'{ip}:9012'), 2)
    done = shell(blocks()[0])
    assert sorted(p.name for p in (place.dir / 'watched').glob('history-*')) == [f'history-{n}.jsonl' for n in PODS]
    assert all(done.stdout.count(f'{ip}:9012 ({n})  ') == 2 for n, ip in PODS.items())


def test_nodes_are_watched_by_their_names(shell, place, tmp_path):
    for n in (1, 2, 3):
        steady(Job(tmp_path, f'node0{n}:9012'), 2)
    shell(blocks()[1])
    assert (place.dir / 'hosts').read_text() == ''.join(f'node0{n}=node0{n}:9012\n' for n in (1, 2, 3))
    assert len(list((place.dir / 'watched' / 'plugins' / 'profile').iterdir())) == 6


def test_a_job_is_one_target(shell, place, tmp_path):
    steady(Job(tmp_path, 'node01:9012,node02:9012,node03:9012'), 2)
    done = shell(blocks()[2])
    assert done.stdout.count('(job-4711)  ') == 2
    assert (place.dir / 'watched' / 'history.jsonl').exists()


def test_files_are_reported_and_merged(shell, place, tmp_path):
    for n in (1, 2, 3):
        steady(Job(tmp_path, f'node0{n}:9012'), 2)
    shell(blocks()[1])
    shell(blocks()[3])
    assert len(list((place.dir / 'reports').iterdir())) == 6
    ops = json.loads((place.dir / 'fleet.json').read_text())['ops']
    assert sum(op['calls'] for op in ops if op['name'] == 'mlp_fusion') == 6 * 10


def test_every_block_is_run():
    assert len(blocks()) == 4
