"""Memory snapshots of PyTorch: found at any level, read to the byte, and refused where they are more than plain values."""
import gzip
import json
import os
import pickle
import random
import subprocess

import pytest

from gen import torch_snapshot as made
from traces import trace
from used import run_used

VIEW_PROFILE = os.environ['VIEW_PROFILE']
MIB = 1 << 20
# docs/reference/memory-and-mfu.md#pytorch-memory-snapshots and expected/inputs/memory_snapshot.tsv
REAL = {
    'LfieLike__SketchKV2/my_snapshot.pickle':
        {'peak_bytes': 16380108168, 'end_bytes': 16380108168, 'reserved_bytes': 17133731840, 'allocations': 0},
    'ZijianDu__Attention/memory.pickle':
        {'peak_bytes': 8521811504, 'end_bytes': 8521811504, 'reserved_bytes': 16236150784, 'allocations': None},
    'silmont2000__assignment2-systems/mem_snapshot.pickle':
        {'peak_bytes': 3249143816, 'end_bytes': 31719428, 'reserved_bytes': 3781165056, 'allocations': 36, 'frees': 26,
         'allocated_bytes': 8091861260},
    'silmont2000__assignment2-systems/memory_forward_bf16_128.pickle':
        {'peak_bytes': 779837440, 'end_bytes': 523811840, 'reserved_bytes': 861929472, 'allocations': 937,
         'frees': 937, 'allocated_bytes': 1132065792},
}
HOSTILE = {  # what must be said of each, or None: it is no snapshot by its first bytes
    'reduce': 'GLOBAL', 'stack_global': 'STACK_GLOBAL', 'self': 'recursive container', 'deep': 'too deep',
    'long': 'invalid number of -5 bytes', 'memo': 'memo entry 2147483647', 'length': None, 'marks': None, 'persid': None,
    'underflow': None, 'laughs': '',
}


def run(*args, **more):
    return subprocess.run([VIEW_PROFILE, *map(str, args)], capture_output=True, text=True, timeout=60, **more)


def report(path):
    done = run('report', '--format', 'json', path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def allocator(path):
    [m] = report(path)['memory']['allocators']
    return m


def holds(m):
    """The rows of the peak are all of it, whatever else."""
    assert sum(t['bytes'] for t in m['top']) == m['peak_bytes'], m
    assert len(m['top']) <= 20 and len(m['sample_bytes']) <= 200
    assert max(m['sample_bytes'], default=0) <= m['peak_bytes']
    assert m['sample_start_ps'] == sorted(m['sample_start_ps'])


@pytest.mark.parametrize('name', REAL)
def test_real_snapshots_are_read_to_the_byte(name):
    m = allocator(trace(f'memory_snapshot/{name}'))
    assert {k: m[k] for k in REAL[name]} == REAL[name]
    holds(m)


def test_holders_and_leaks_are_named(tmp_path):
    m = allocator(made.dump(tmp_path / 'x.pickle', made.training(steps=8)))
    holds(m)
    assert m['peak_bytes'] == 6 * MIB + 8 * (64 << 10)
    assert m['end_bytes'] == 4 * MIB + 8 * (64 << 10)
    assert (m['allocations'], m['frees'], m['allocated_bytes']) == (16, 8, 8 * (2 * MIB + (64 << 10)))
    assert m['peak_start_ps'] == 7 * 1000 * 10**6 + 100 * 10**6, 'the last step is the first to have all of it'
    top = {t['name']: (t['bytes'], t['count'], t['source']) for t in m['top']}
    assert top['init'] == (4 * MIB, 1, '/job/model.py:10'), 'the frame outside torch'
    assert top['forward'] == (2 * MIB, 1, '/job/model.py:20')
    assert m['leak_steps'] == 6, 'the last two may still give it back'
    [leak] = m['leaks']
    assert leak == {'name': 'remember', 'scope': None, 'source': '/job/train.py:30', 'bytes': 6 * (64 << 10), 'count': 6,
                    'steps': 6}
    assert allocator(made.dump(tmp_path / 'y.pickle', made.training(steps=8, leak=False)))['leaks'] == []


def test_requests_that_failed_are_a_finding(tmp_path):
    value = made.training(steps=4, leak=False)
    found = {f['id']: f for f in report(made.dump(tmp_path / 'a.pickle', value))['findings']}
    assert found['F22']['status'] == 'not_evaluated', 'no limit is known'
    out = made.entry('oom', 0, 1 << 40, 1_700_000_000_009_999)
    out['device_free'] = out.pop('addr')
    value['device_traces'][0].append(out)
    r = report(made.dump(tmp_path / 'a.pickle', value))
    found = {f['id']: f for f in r['findings']}['F22']
    assert r['memory']['allocators'][0]['out_of_memory'] == 1
    assert (found['status'], found['severity']) == ('fired', 'high')
    assert 'failed to serve 1 request; it peaks at 6.0 MiB of 6.0 MiB reserved; init (/job/model.py:10) holds 4.0 MiB' \
        in found['message']


@pytest.mark.parametrize('protocol', range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_all_protocols_say_the_same(tmp_path, protocol):
    value = made.training(steps=4)
    assert allocator(made.dump(tmp_path / 'a.pickle', value, protocol)) == \
        allocator(made.dump(tmp_path / 'a.pickle', value, 4))


def test_it_is_found_by_its_content_at_any_level(tmp_path):
    run_dir = tmp_path / 'plugins' / 'profile' / '2026_11_26'
    run_dir.mkdir(parents=True)
    made.dump(run_dir / 'mem.anything', made.training())
    for at in (tmp_path, tmp_path / 'plugins' / 'profile', run_dir):
        assert allocator(at)['peak_bytes'] == 6 * MIB + 8 * (64 << 10)
    packed = tmp_path / 'packed'
    packed.mkdir()
    (packed / 'm.pickle.gz').write_bytes(gzip.compress((run_dir / 'mem.anything').read_bytes()))
    assert allocator(packed)['end_bytes'] == 4 * MIB + 8 * (64 << 10)


def test_a_pickle_of_something_else_is_no_profile(tmp_path):
    (tmp_path / 'model.pkl').write_bytes(pickle.dumps({'weights': [1, 2, 3]}))
    assert run('report', tmp_path).returncode == 4
    (tmp_path / 'lfs.pickle').write_text('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n')
    assert 'Git LFS pointer' in run('report', tmp_path).stderr


@pytest.mark.parametrize('name', HOSTILE)
def test_hostile_pickles_are_refused(name):
    path = trace(f'hostile_made/{name}.pickle')
    done = run('report', path)
    if HOSTILE[name] is None:
        assert done.returncode == 4, done.stderr
    elif HOSTILE[name]:
        assert done.returncode == 3 and HOSTILE[name] in done.stderr and ': byte ' in done.stderr, done.stderr
    else:
        assert done.returncode in (0, 3)


class Evil:
    def __reduce__(self):
        return os.system, ('touch /tmp/view_profile_was_run',)


def test_nothing_is_run(tmp_path):
    value = made.training()
    value['evil'] = Evil()
    done = run('report', made.dump(tmp_path / 'e.pickle', value))
    assert done.returncode == 3 and 'STACK_GLOBAL' in done.stderr
    assert not os.path.exists('/tmp/view_profile_was_run')


def hand(tmp_path, body):
    path = tmp_path / 'h.pickle'
    path.write_bytes(b'\x80\x04}(\x8c\x08segments' + body)
    return run('report', path)


def test_bombs_are_refused(tmp_path):
    for body, why in [(b']' * 10**6, 'too deep'), (b'(' * 10**6, 'too deep'), (b'((]' * 10**6, 'too deep'),
                      (b']r' + b'\xff' * 4, 'memo entry 4294967295'), (b'h\x07', 'which is not set'),
                      (b'X\xff\xff\xff\xff', 'string of'), (b'\x8d' + b'\xff' * 8, 'string of'), (b'e', 'appends to'),
                      (b'\xff', 'invalid pickle opcode'), (b'.', 'single dict'), (b'u.', 'key without'), (b'a', 'stack underflow'),
                      (b'KeK\x01s', 'not a dict')]:
        done = hand(tmp_path, body)
        assert done.returncode == 3 and why in done.stderr, (body[:9], done.stderr)


def test_negative_and_absurd_sizes_are_left_out(tmp_path):
    value = made.training(steps=3)
    entries = value['device_traces'][0]
    entries.insert(0, made.entry('alloc', 1, -5, 1))
    value['segments'][0]['blocks'].append(made.block(3, -(1 << 40)))
    r = report(made.dump(tmp_path / 'n.pickle', value))
    [m] = r['memory']['allocators']
    holds(m)
    assert m['peak_bytes'] == 6 * MIB + 3 * (64 << 10)
    assert [q['message'] for q in r['quality']] == ['2 blocks or entries of the snapshot have no size and are left out']
    entries += [made.entry('alloc', n, (1 << 63) - 1, 5) for n in range(9)]
    entries += [made.entry('alloc', 1 << 80, 7, 1 << 90)]
    entries += [made.entry('free_requested', n, (1 << 63) - 1, -5) for n in range(20)]
    done = run('report', '--format', 'json', made.dump(tmp_path / 'n.pickle', value))
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.slow
def test_every_cut_gives_what_stands_before(tmp_path):
    whole = pickle.dumps(made.training(steps=4))
    path = tmp_path / 'c.pickle'
    last = {}
    for n in [*range(3, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:n])
        done = run('report', '--format', 'json', path)
        assert done.returncode in (0, 3, 4), (n, done.stderr)
        if done.returncode == 0:
            last = json.loads(done.stdout)
            assert any(q['code'] == 'truncated' and q['byte'] is not None for q in last['quality'])
            for m in last['memory']['allocators']:
                holds(m)
    [m] = last['memory']['allocators']
    assert m['allocations'] == 8, 'only its end is missing'


@pytest.mark.slow
def test_damage_is_survived(tmp_path):
    whole = bytearray(pickle.dumps(made.training(steps=4)))
    path, dice = tmp_path / 'd.pickle', random.Random(16)
    for _ in range(150):
        bad = bytearray(whole)
        for _ in range(3):
            bad[dice.randrange(20, len(bad))] = dice.randrange(256)
        path.write_bytes(bad)
        assert run('report', '--format', 'json', path).returncode in (0, 3, 4)


def test_beside_a_timeline_it_has_a_place_in_it(tmp_path):
    value = made.training(steps=4)
    start = value['external_annotations'][0]['time_us'] - 5000
    events = [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 100, 'dur': 9000, 'args': {'device': 0,
               'stream': 7}}]
    run_dir = tmp_path / 'plugins' / 'profile' / '2026_11_26'
    run_dir.mkdir(parents=True)
    (run_dir / 'a.pt.trace.json').write_text(json.dumps(
        {'schemaVersion': 1, 'deviceProperties': [], 'baseTimeNanoseconds': start * 1000, 'traceEvents': events}))
    made.dump(run_dir / 'm.pickle', value)
    r = report(tmp_path)
    [m] = r['memory']['allocators']
    us = (m['peak_start_ps'] // 10**6) + r['session']['base_unix_ns'] // 1000
    assert us == start + 5000 + 3 * 1000 + 200


@pytest.mark.skipif(os.environ.get('VP_SLOW') != '1', reason='1 GB: only with VP_SLOW=1, and a release build')
def test_a_gigabyte_is_read_in_ten_seconds(tmp_path):
    check_large(tmp_path, 10**9, 10, 0.3 * 10**9)


def test_a_large_one_takes_little_memory(tmp_path):
    check_large(tmp_path, 20 * 10**6, 20, 60 * 10**6)


def check_large(tmp_path, size, seconds, memory):
    path = tmp_path / 'large.pickle'
    want = made.write_large(path, size)
    with open(tmp_path / 'out', 'w') as out:
        used = run_used([VIEW_PROFILE, 'report', '--format', 'json', path], out)
    assert used.code == 0, used.err
    [m] = json.loads((tmp_path / 'out').read_text())['memory']['allocators']
    holds(m)
    assert (m['allocations'], m['peak_bytes'], m['end_bytes']) == (want['allocations'], want['peak'], want['end'])
    assert used.cpu_s <= seconds and used.peak <= memory, f'{used.cpu_s:.1f} s, {used.peak / MIB:.0f} MiB'
