"""tests/data, what a clone alone is tested on: enough of every producer and format, small, each file with its source
and licence in the one table, no secret in any, and every byte that of the wide collection where that is there."""
import collections
import csv
import os
import re
import subprocess
import sys

import pytest

from common import ROOT, view_profile
from traces import DATA, WIDE

LIMIT = 15_000_000  # bytes in all
OURS = {'README.md', 'SOURCES.tsv'}
LICENCES = {'Apache-2.0', 'MIT', 'BSD-3-Clause', 'Unlicense'}
# What is read, and where some of it lies: each of these has a session that lists as "ok".
PRODUCERS = {
    'JAX on TPU, xplane': 'jax_tpu/openxla__xprof', 'JAX on TPU, JSON': 'jax_tpu/vllm-project__tpu-inference',
    'JAX on ROCm': 'jax_gpu_rocm', 'XLA on CUDA': 'xla_gpu_cuda', 'XLA on CPU': 'xla_cpu_julia', 'JAX on CPU': 'jax_cpu',
    'TensorFlow': 'tf_cpu', 'Kineto on CUDA': 'pytorch_cuda', 'Kineto on ROCm': 'pytorch_rocm',
    'Kineto on MTIA': 'pytorch_mtia', 'other Trace Event JSON': 'chrome_odd', 'tar.gz': 'archives',
    'packed runs': 'archives_made', 'memory.prof': 'jax_cpu/memory',
}


def rows():
    with open(DATA / 'SOURCES.tsv', encoding='utf-8', newline='') as f:
        return list(csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE))


def files():
    return sorted(str(p.relative_to(DATA)) for p in DATA.rglob('*') if p.is_file() and p.name not in OURS)


def test_every_file_has_its_row_and_every_row_its_file():
    paths = [r['path'] for r in rows()]
    assert paths == sorted(set(paths)) and sorted(paths) == files()


@pytest.mark.parametrize('row', rows(), ids=lambda r: r['path'])
def test_a_row_says_where_a_file_is_from(row):
    assert row['producer'] and None not in row.values() and row['licence'] in LICENCES
    if row['repository'] == '-':
        assert 'made for this project' in row['producer'] and row['commit'] == row['path_in_repository'] == '-'
    else:
        assert re.fullmatch(r'[\w.-]+/[\w.-]+', row['repository'])
        assert re.fullmatch('[0-9a-f]{40}', row['commit']) and row['path_in_repository'] != '-'


def test_it_is_small():
    assert sum((DATA / path).stat().st_size for path in files()) <= LIMIT


def test_git_has_all_of_it():
    """What .gitignore leaves out would be there for us alone."""
    if not (ROOT / '.git').exists():
        pytest.skip('no git repository: an unpacked archive')
    listed = subprocess.run(['git', '-c', f'safe.directory={ROOT}', 'ls-files', '-z', '.'], cwd=DATA, check=True,
                            capture_output=True, text=True).stdout
    assert set(files()) | OURS <= set(listed.split('\0'))


def test_every_producer_has_runs():
    seen = collections.Counter()
    for producer, folder in PRODUCERS.items():
        listed = view_profile('list', str(DATA / folder)).stdout
        seen[producer] = sum(line.rstrip().endswith(' ok') for line in listed.splitlines())
        assert seen[producer], producer
    assert sum(seen.values()) - seen['memory.prof'] >= 25
    names = {p.name for p in DATA.rglob('*')}
    for suffix in ('.xplane.pb', '.trace.json.gz', '.pt.trace.json.gz', '.json', '.zip', '.tar.gz', '.tar.zst', '.prof'):
        assert any(name.endswith(suffix) for name in names), suffix
    assert 'truncated.tar.gz' in names and 'train-cuda.pt.trace.json.gz' in names  # cut, and not there at all


@pytest.mark.skipif(not WIDE.is_dir(), reason='no wide collection to compare with: ../shared/traces, or VP_TRACES')
def test_it_is_a_part_of_the_wide_collection():
    for path in files():
        assert (DATA / path).read_bytes() == (WIDE / path).read_bytes(), path


@pytest.mark.parametrize('named,there,read', [
    ('', False, 'tests/data'), ('', True, 'shared/traces'), ('named', False, 'named'), ('named', True, 'named'),
    ('nowhere', False, 'tests/data'), ('nowhere', True, 'tests/data')])
def test_the_folder_is_chosen_alike(tmp_path, named, there, read):
    """VP_TRACES, else ../shared/traces, else tests/data, in Python, in C and for the browser."""
    root = tmp_path / 'x'
    for folder in ('x/tests/browser/node_modules/playwright-core', 'x/tests/data', 'named',
                   *(['shared/traces'] if there else [])):
        (tmp_path / folder).mkdir(parents=True)
    (root / 'tests/browser/node_modules/playwright-core/index.mjs').write_text('export const chromium = null;\n')
    (root / 'tests/browser/node_modules/playwright-core/package.json').write_text(
        '{"name": "playwright-core", "exports": "./index.mjs"}')
    (root / 'tests/unit').mkdir()
    for name in ('tests/traces.py', 'tests/browser/lib.mjs', 'tests/unit/traces.h', 'tests/unit/skip.h'):
        (root / name).write_bytes((ROOT / name).read_bytes())
    want = str(tmp_path / ('x' if read == 'tests/data' else '') / read)
    env = {'PATH': os.environ['PATH'], 'VP_TRACES': str(tmp_path / named) if named else ''}
    ask = f'import {{ traces }} from "{root}/tests/browser/lib.mjs"; console.log(traces)'
    main = '#include "tests/unit/traces.h"\nint main(void) { return puts(traces_root()) < 0; }\n'
    subprocess.run(['cc', f'-DVP_SOURCE_DIR="{root}"', f'-I{root}', '-xc', '-', '-lcmocka', '-o', str(root / 'ask')],
                   input=main, text=True, check=True)
    for command in ([sys.executable, str(root / 'tests/traces.py')], [str(root / 'ask')], ['node', '--input-type=module', '-e', ask]):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        assert os.path.realpath(done.stdout.rstrip('\n')) == os.path.realpath(want), command
