"""Programs without a device (tests/gen/host_only.py): the planted cause comes first, named, in its place and
with what it costs; where nothing is planted nothing is said."""
import collections
import functools
import json
import pathlib
import re
import sys
import tempfile

import pytest

import identities
from common import ROOT, TRACES, report, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, host_only  # noqa: E402
from gen.scene import MS, US, Event, GpuLoop, Scene  # noqa: E402
from rules import HOST_RULES, TORCH_RULES  # noqa: E402

CASES = pytest.mark.parametrize('name', host_only.CASES)
CLEAN = pytest.mark.parametrize('name', host_only.CLEAN)


@functools.lru_cache(maxsize=None)
def made_of(name):
    return host_only.CASES[name]() if name in host_only.CASES else host_only.CLEAN[name]()


@functools.lru_cache(maxsize=None)
def written(name):
    made = made_of(name)
    scene = made.scene if name in host_only.CASES else made
    return str(files.write(scene, 'xspace', pathlib.Path(tempfile.mkdtemp(prefix=f'vp-{name}-'))))


@functools.lru_cache(maxsize=None)
def full(name):
    return json.loads(view_profile('report', '--format=json', written(name)).stdout)


def shown(found):
    return [(f['id'], f['status'], f['severity'], f['impact']['time_ps'], f['message']) for f in found
            if f['status'] in ('fired', 'explained')]


@CASES
def test_planted_cause_is_first(name):
    want, first = made_of(name), full(name)['findings'][0]
    assert (first['id'], first['status'], first['severity']) == (want.rule, 'fired', want.severity), \
        shown(full(name)['findings'])
    for word in want.says:
        assert word in first['message'], first['message']


@CASES
def test_impact_and_place(name):
    want, first = made_of(name), full(name)['findings'][0]
    if want.impact:
        assert want.impact[0] <= first['impact']['gross_ps'] <= want.impact[1], first
        assert first['impact']['window_ps'] == host_only.window(want.scene)
    place = first['where'][0]
    assert place['start_ps'] < place['end_ps']
    if want.inside:
        assert want.inside == (place['start_ps'], place['end_ps']), first['where']


@CASES
def test_no_time_is_claimed_twice(name):
    fired = [f['impact'] for f in full(name)['findings'] if f['status'] == 'fired']
    assert sum(i['time_ps'] or 0 for i in fired) <= host_only.window(made_of(name).scene)


@CLEAN
def test_clean_is_silent(name):
    hot = {'F27'} if 'pool' in name or 'uneven' in name else set()  # what a pool is for is hot, and no fault
    assert [f for f in shown(full(name)['findings']) if f[0] not in hot] == []


@pytest.mark.parametrize('name', [*host_only.CASES, *host_only.CLEAN])
def test_identities(name):
    identities.check(full(name))


def test_every_rule_is_planted_and_can_be_clear():
    """Rules about operators of PyTorch are in tests/cli/test_findings_pytorch.py."""
    rules = HOST_RULES - TORCH_RULES
    assert {made_of(n).rule for n in host_only.CASES} == rules
    clear = {f['id'] for n in host_only.CLEAN for f in full(n)['findings'] if f['status'] == 'clear'}
    assert rules <= clear


def test_threads_are_those_of_the_scene():
    """Work is what is no waiting, per thread; what they do is one row a zone, with its threads."""
    scene, made = made_of('imbalance').scene, full('imbalance')
    want = {t.name: (sum(e.dur for e in t.events if e.name != 'barrier'),
                     sum(e.dur for e in t.events if e.name == 'barrier')) for t in scene.host.threads}
    assert {t['thread']: (t['work_ps'], t['wait_ps']) for t in made['threads']} == want
    ops = {o['name']: o for o in full('hot_zone')['ops']}
    assert (ops['collide']['threads'], ops['collide']['calls'], ops['collide']['self_ps']) == \
        (64, 64 * 20, 64 * 20 * 500 * US)
    assert len(full('hot_zone')['ops']) == 7


def test_zones_of_many_threads_beside_a_device(tmp_path):
    """64 threads that prepare the data of a GPU are one row a zone, not all rows that there are."""
    scene = Scene(50)
    loop = GpuLoop(scene)
    for n in range(20):
        with loop.step(n):
            loop.launch('gemm', 1 * MS)
            loop.drain()
    for i in range(64):
        t = scene.host.thread(f'worker-{i}')
        t.events += [Event(z, k * MS + j * 150 * US, (50 + i) * US) for k in range(10)
                     for j, z in enumerate(('read', 'decode', 'augment'))]
    path = files.write(scene, 'xspace', tmp_path)
    made = json.loads(view_profile('report', '--format=json', str(path)).stdout)
    rows = {o['name']: o for o in made['host_ops']}
    total = sum(10 * (50 + i) * US for i in range(64))
    for zone in ('read', 'decode', 'augment'):
        assert [o['name'] for o in made['host_ops']].count(zone) == 1
        row = rows[zone]
        assert (row['threads'], row['calls'], row['self_ps'], row['total_ps'], row['max_ps']) == \
            (64, 640, total, total, 113 * US)
        assert row['thread'] == 'worker-63'
    assert rows['cudaDeviceSynchronize']['threads'] == 1


@pytest.mark.parametrize('name', ['lock_wait', 'imbalance', 'hot_zone', 'variance'])
def test_as_chrome_json(name, tmp_path):
    """What needs no steps is found in a Trace Event JSON of any producer, too."""
    want = made_of(name)
    (tmp_path / 'a.trace.json').write_bytes(host_only.chrome(want.scene))
    first = json.loads(view_profile('findings', '--format=json', str(tmp_path)).stdout)['findings'][0]
    assert first['id'] == want.rule and first['severity'] == want.severity, first
    assert all(word in first['message'] for word in want.says), first['message']


def test_merged_hosts_are_the_whole(tmp_path):
    """Two hosts of one program, of which one has a slow step and threads that wait: their reports merged
    are the report of both."""
    scene = Scene(hosts=2)
    for host, name in zip(scene.hosts, ('checkpoint', 'lock_wait')):
        host.threads = made_of(name).scene.host.threads
    path = files.write(scene, 'xspace', tmp_path)
    parts = []
    for host in scene.hosts:
        parts.append(tmp_path / f'{host.name}.json')
        parts[-1].write_text(view_profile('report', '--format=json', '--host', host.name, str(path)).stdout)
    whole = json.loads(view_profile('report', '--format=json', str(path)).stdout)
    merged = json.loads(view_profile('merge', '--format=json', *map(str, parts)).stdout)
    for key in ('findings', 'threads', 'steps', 'host_ops', 'ops', 'devices'):
        assert merged[key] == whole[key], key
    fired = {f['id']: f for f in whole['findings'] if f['status'] == 'fired'}
    assert {'F25', 'F28'} <= set(fired)
    assert 'write_checkpoint' in fired['F28']['message']
    assert fired['F28']['where'][0]['host'] == 'host-a' and fired['F25']['where'][0]['host'] == 'host-b'


def test_advice_is_for_any_language():
    for name in host_only.CASES:
        text = full(name)['findings'][0]['suggestion'].lower()
        assert not any(w in text for w in ('jax', 'jit', 'torch', 'donate', 'pytree', 'tensor')), text


def test_device_rules_stay_unevaluated_and_host_rules_too_where_there_is_a_device(tmp_path):
    loop = GpuLoop(Scene(51))
    for n in range(8):
        with loop.step(n):
            loop.launch('gemm', 1 * MS)
            loop.drain()
    path = files.write(loop.scene, 'kineto', tmp_path)
    found = json.loads(view_profile('findings', '--format=json', str(path)).stdout)['findings']
    assert {f['id'] for f in found if f['status'] == 'not_evaluated'} >= HOST_RULES
    host = {f['id']: f['status'] for f in full('clean_frames')['findings']}
    assert all(host[i] == 'not_evaluated' for i in ('F1', 'F12', 'F15', 'F17', 'F18'))


def test_group_scope_shows_the_call_tree(tmp_path):
    """Without a device a scope is a call path; a zone within two others is two scopes. Self times add up to
    what the threads are busy."""
    def zone(name, start, end, tid=1):
        return {'ph': 'X', 'pid': 1, 'tid': tid, 'name': name, 'ts': start, 'dur': end - start}
    events = [zone('main', 0, 100), zone('load', 0, 30), zone('read', 5, 20), zone('draw', 30, 90),
              zone('read', 40, 50), zone('read', 60, 65), zone('read', 0, 7, 2)]
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    want = {'main': 10, 'main/load': 15, 'main/load/read': 15, 'main/draw': 45, 'main/draw/read': 15, 'read': 7}
    made = json.loads(view_profile('report', '--format=json', '--group=scope', str(tmp_path)).stdout)
    assert {o['name']: o['self_ps'] // US for o in made['ops']} == want

    def tree(nodes):
        for n in nodes:
            yield n['path'], n['self_ps'] // US, n['total_ps'] // US
            yield from tree(n['children'])
    assert {p: s for p, s, _ in tree(made['scopes'])} == want
    assert {p: t for p, _, t in tree(made['scopes'])}['main'] == 100
    top = view_profile('top', '--group=scope', str(tmp_path)).stdout
    assert all(path in top for path in want), top


def tf_path(name):
    """XProf's rule for events that are TensorFlow ops."""
    op = re.fullmatch(r'([A-Za-z0-9.][A-Za-z0-9_./>-]*):([A-Z_][A-Za-z0-9_]*)', name)
    return op and op[1]


def rows(made):
    return {o['name']: o['self_ps'] for o in made['ops']}


@pytest.mark.parametrize('path', sorted(str(p.relative_to(TRACES)) for p in TRACES.glob('tf_cpu/**/*.trace.json.gz')))
def test_group_scope_of_tensorflow_is_the_graph(path):
    """An op's event is named by its path in the graph: that is its scope, wherever on a thread it ran."""
    raw = rows(report(path, '--group=raw'))
    made = report(path, '--group=scope')
    scopes = rows(made)
    want = collections.Counter()
    for name, self_ps in raw.items():
        if tf_path(name):
            want[tf_path(name)] += self_ps
    assert len(want) > 10
    assert {p: scopes.get(p) for p in want} == want
    assert not any(tf_path(p.split('/')[-1]) for p in scopes)
    assert sum(scopes.values()) == sum(raw.values())
    layers = {n['path']: n['total_ps'] for n in made['scopes']}
    top = {p.split('/')[0] for p in want}
    assert top <= set(layers)
    for layer in top:
        assert layers[layer] >= sum(ps for p, ps in want.items() if p.split('/')[0] == layer)


def test_group_scope_of_tensorflow_built(tmp_path):
    def event(name, start, end, tid=1):
        return {'ph': 'X', 'pid': 1, 'tid': tid, 'name': name, 'ts': start, 'dur': end - start}
    events = [event('ExecutorState::Process', 0, 100), event('model/dense/MatMul:MatMul', 0, 40),
              event('pack', 10, 20), event('model/dense/MatMul:MatMul', 3, 7, 2), event('loss:AddV2', 50, 60),
              event('model/dense/Relu', 60, 65), event('gradient_tape/model/dense/MatMul/MatMul_1:MatMul', 70, 90),
              event('read a/b.txt', 91, 93), event('x::y:Z', 94, 95)]
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    made = json.loads(view_profile('report', '--format=json', '--group=scope', str(tmp_path)).stdout)
    process = 'ExecutorState::Process'
    want = {process: 22, 'model/dense/MatMul': 34, 'model/dense/MatMul/pack': 10, 'loss': 10,
            'model/dense/Relu': 5, 'gradient_tape/model/dense/MatMul/MatMul_1': 20, process + '/read a:b.txt': 2,
            process + '/x::y:Z': 1}
    assert {o: ps // US for o, ps in rows(made).items()} == want
    events[0]['name'] = 'main'  # where nothing is TensorFlow's, a zone's name is just a name
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': [events[0], event('io:Read', 5, 9)]}))
    made = json.loads(view_profile('report', '--format=json', '--group=scope', str(tmp_path)).stdout)
    assert {o: ps // US for o, ps in rows(made).items()} == {'main': 96, 'main/io:Read': 4}


def test_call_paths_of_a_deep_recursion_end(tmp_path):
    events = [{'ph': 'X', 'pid': 1, 'tid': 1, 'name': 'f', 'ts': i, 'dur': 2000 - 2 * i} for i in range(900)]
    (tmp_path / 'a.trace.json').write_text(json.dumps({'traceEvents': events}))
    made = json.loads(view_profile('report', '--format=json', '--group=scope', str(tmp_path)).stdout)
    assert sum(o['self_ps'] for o in made['ops']) == 2000 * US
    assert 60 <= max(o['name'].count('/') for o in made['ops']) <= 64
