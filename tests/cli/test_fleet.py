"""The lines of docs/fleet.md, run against programs that print what kubectl, squeue and scontrol print."""
import contextlib
import json
import re
import socket
import subprocess
import sys

import pytest
from conftest import ROOT
from profiler_server import request
from test_watch import WAIT, Job, jobs, pytestmark, steady  # noqa: F401

PAGE = ROOT / 'docs' / 'fleet.md'
PODS = {'train-0': '127.1.0.4', 'train-1': '127.1.0.5'}
NODES = ('127.2.0.1', '127.2.0.2', '127.2.0.3')  # as scontrol would name them
STUBS = {
    # Of jsonpath only what the page uses: it is checked, not interpreted.
    'kubectl': f'''#!{sys.executable}
import sys
assert sys.argv[1:7] == ['get', 'pods', '-l', 'app=train', '--field-selector', 'status.phase=Running'], sys.argv
assert sys.argv[7:] == ['-o', r'jsonpath={{range .items[*]}}{{.metadata.name}}={{.status.podIP}}:PORT{{"\\n"}}{{end}}'], sys.argv
for name, ip in {PODS!r}.items():
    print(f'{{name}}={{ip}}:PORT')
''',
    'squeue': f'''#!{sys.executable}
import sys
assert sys.argv[1:] == ['--noheader', '--job', '4711', '--format', '%N'], sys.argv
print('node[01-03]')
''',
    'scontrol': f'''#!{sys.executable}
import sys
assert sys.argv[1:] == ['show', 'hostnames', 'node[01-03]'], sys.argv
print(*{NODES!r}, sep=chr(10))
'''}


def free_port(addresses):
    """One that is free on all of them: the page's own may be somebody's."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.create_server((addresses[0], 0)))
            port = first.getsockname()[1]
            try:
                for address in addresses[1:]:
                    stack.enter_context(socket.create_server((address, port)))
            except OSError:
                continue
            return port


@pytest.fixture
def port():
    return free_port([*PODS.values(), *NODES])


@pytest.fixture
def shell(place, tmp_path, port):
    for name, text in STUBS.items():
        path = tmp_path / 'bin' / name
        path.write_text(text.replace('PORT', str(port)))
        path.chmod(0o755)

    def run(block):
        block = re.sub(r' --every \w+', '', block).replace('9012', str(port))
        block = re.sub(r'(view_profile watch [^\n]*)', r'\1 --times 2 --every 100ms --duration 10ms', block)
        done = subprocess.run(['bash', '-euo', 'pipefail', '-c', block], cwd=place.dir, env={**place.env, 'JOB': '4711'},
                              capture_output=True, text=True, timeout=WAIT)
        assert done.returncode == 0, done.stderr
        return done
    return run


def blocks():
    return re.findall(r'```sh\n(.*?)```', PAGE.read_text(), flags=re.S)


def test_pods_are_watched_by_their_names(shell, place, jobs, port):
    for ip in PODS.values():
        steady(Job(jobs, (ip, port)), 2)
    done = shell(blocks()[0])
    assert sorted(p.name for p in (place.dir / 'watched').glob('history-*')) == [f'history-{n}.jsonl' for n in PODS]
    assert all(done.stdout.count(f'{ip}:{port} ({n})  ') == 2 for n, ip in PODS.items())


def test_nodes_are_watched_by_their_names(shell, place, jobs, port):
    for node in NODES:
        steady(Job(jobs, (node, port)), 2)
    shell(blocks()[1])
    assert (place.dir / 'hosts').read_text() == ''.join(f'{n}={n}:{port}\n' for n in NODES)
    assert len(list((place.dir / 'watched' / 'plugins' / 'profile').iterdir())) == 6
    shell(blocks()[4])
    assert len(list((place.dir / 'reports').iterdir())) == 6
    ops = json.loads((place.dir / 'fleet.json').read_text())['ops']
    assert sum(op['calls'] for op in ops if op['name'] == 'mlp_fusion') == 6 * 10


def test_a_job_is_one_target(shell, place, jobs, port):
    for node in NODES:
        steady(Job(jobs, (node, port)), 2)
    done = shell(blocks()[2])
    assert done.stdout.count('(job-4711)  ') == 2
    assert (place.dir / 'watched' / 'history.jsonl').exists()
    for run in (place.dir / 'watched' / 'plugins' / 'profile').iterdir():
        assert len(list(run.glob('*.xplane.pb'))) == 3


def test_nodes_are_captured_at_one_moment(shell, place, jobs, port):
    made = [steady(Job(jobs, (node, port)), 1) for node in NODES]
    shell(blocks()[3])
    (run,) = (place.dir / 'logs' / 'plugins' / 'profile').iterdir()
    assert sorted(p.name for p in run.iterdir()) == sorted(f'{n}_{port}.xplane.pb' for n in NODES)
    assert len({request(job.asked()[0])['opts'][8] for job in made}) == 1


def test_every_block_is_run():
    assert len(blocks()) == 5
