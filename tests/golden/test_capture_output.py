"""What the recorder writes, decoded by other means than ours: every event of the XSpace and of the
JSON is the one that the recording's image holds, with the same time to the picosecond, the same
arguments, and no other."""
import collections
import gzip
import json
from decimal import Decimal

import pytest
from common import run, tool, view_profile
from xspace_decode import Plane, fields


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """(truth, folder): what the image holds, and the files that were written from it."""
    folder = tmp_path_factory.mktemp('capture')
    truth = json.loads(run(tool('capture_tool'), folder / 'prof')[0])
    return truth, folder / 'prof' / 'again'


@pytest.fixture(scope='module')
def planes(recorded):
    data = (recorded[1] / 'box.xplane.pb').read_bytes()
    return [Plane(v) for field, v in fields(data) if field == 1]


@pytest.fixture(scope='module')
def trace_json(recorded):
    with gzip.open(recorded[1] / 'box.trace.json.gz', 'rt') as f:
        return json.load(f, parse_float=Decimal)


def expected_stats(event):
    out = dict(event['args'])
    if event['kind'] == 'step':
        out |= {'_r': 1, 'step_num': event['number'], 'step_name': f"{event['name']} {event['number']}"}
    if event['kind'] == 'counter':
        out['counter_value'] = float(event['real']) if 'real' in event else event['number']
    if event['correlation']:
        out['correlation_id'] = event['correlation']
    if event['flow_out']:
        out |= {'_pt': 0, '_p': event['flow_out']}
    if event['flow_in']:
        out |= {'_ct': 0, '_c': event['flow_in']}
    return out


def frozen(stats):
    """Doubles as the truth prints them, with nine digits."""
    return tuple(sorted((k, f'{v:.9g}' if isinstance(v, float) else v) for k, v in stats.items()))


def bag(events):
    return collections.Counter((name, start, dur, frozen(stats)) for name, start, dur, stats in events)


def wanted(events):
    return bag((e['name'], e['start'], e['dur'], expected_stats(e)) for e in events)


def of_plane(planes, name):
    found = [p for p in planes if p.name == name]
    assert len(found) == 1
    return found[0]


def without(events, *keys):
    """`unfinished` is of the moment when the image was taken."""
    return [(n, s, d, {k: v for k, v in stats.items() if k not in keys}) for n, s, d, stats in events]


def test_every_zone_of_a_thread_is_on_its_line(recorded, planes):
    host = of_plane(planes, '/host:CPU')
    lines = {ident: (name, events) for ident, name, events in host.lines}
    threads = recorded[0]['threads']
    assert len(threads) == 3
    for thread in threads:
        name, events = lines[thread['tid']]
        assert name == thread['name']
        own = [e for e in thread['events'] if e['kind'] not in ('span', 'counter')]
        assert bag(without(events, 'unfinished')) == wanted(own)
        assert [e[1] for e in events] == sorted(e[1] for e in events)


def test_counters_are_on_theirs(recorded, planes):
    host = of_plane(planes, '/host:CPU')
    events = [e for _, name, line in host.lines if name == '_counters_' for e in line]
    truth = [e for t in recorded[0]['threads'] for e in t['events'] if e['kind'] == 'counter']
    assert len(truth) == 20
    assert bag(events) == wanted(truth)


def test_spans_are_on_their_tracks(recorded, planes):
    lines = [('/device:GPU:0', 'Stream #1(compute)'), ('/device:GPU:0', 'Stream #9(MemcpyH2D)'),
             ('/device:CUSTOM:NIC:0', 'Stream #1(queue)')]
    for track, (plane, name) in enumerate(lines):
        events = [e for _, n, line in of_plane(planes, plane).lines if n == name for e in line]
        truth = [e for t in recorded[0]['threads'] for e in t['events']
                 if e['kind'] == 'span' and e['track'] == track]
        assert truth and bag(events) == wanted(truth)


def test_sites_say_where_they_are(recorded, planes):
    host = of_plane(planes, '/host:CPU')
    lines = {e['name']: e['line'] for t in recorded[0]['threads'] for e in t['events']}
    for name in ('inner', 'consume', 'load_batch', 'train'):
        stats = {n: s for n, s in host.names.values()}[name]
        assert stats['source'].endswith(f'recorded.h:{lines[name]}')
    assert {n: s for n, s in host.names.values()}['jit_train_step']['category'] == 'compile'


def test_the_environment_says_when_and_who(recorded, planes):
    own = of_plane(planes, 'Task Environment').own
    assert own['profile_start_time'] == recorded[0]['start_unix_ns']
    assert own['profile_stop_time'] == own['profile_start_time'] + -(-recorded[0]['end_ps'] // 1000)
    assert own['mesh.shape'] == '4x2'
    assert own['program'].endswith('capture_tool')


def ps(number):
    value = Decimal(number) * 10**6
    assert value == int(value)
    return int(value)


def test_the_json_has_the_same_events(recorded, trace_json):
    events = [e for e in trace_json['traceEvents'] if e['ph'] == 'X']
    own = ('group_id', 'source', 'category', 'unfinished')
    got = bag((e['name'], ps(e['ts']), ps(e['dur']),
               {k: float(v) if isinstance(v, Decimal) else v for k, v in e['args'].items() if k not in own})
              for e in events)
    truth = [e for t in recorded[0]['threads'] for e in t['events'] if e['kind'] != 'counter']
    assert got == wanted(truth)


def test_the_json_names_processes_and_threads(recorded, trace_json):
    names = {(e['pid'], e.get('tid')): e['args']['name'] for e in trace_json['traceEvents'] if e['ph'] == 'M'}
    assert names[701, None] == '/host:CPU'
    assert names[1, None] == '/device:GPU:0'
    for thread in recorded[0]['threads']:
        assert names[701, thread['tid']] == thread['name']
    places = {(e['pid'], e['tid']) for e in trace_json['traceEvents'] if e['ph'] == 'X'}
    assert places <= set(names)


def test_flows_of_the_json_join_their_zones(recorded, trace_json):
    by_id = collections.defaultdict(list)
    for e in trace_json['traceEvents']:
        if e['ph'] in 'sf':
            by_id[e['id']].append(e)
    truth = [e for t in recorded[0]['threads'] for e in t['events'] if e['flow_in']]
    assert len(truth) == 10
    for zone in truth:
        start, end = sorted(by_id[zone['flow_in']], key=lambda e: e['ph'], reverse=True)
        assert (start['ph'], end['ph'], end['bp']) == ('s', 'f', 'e')
        assert ps(end['ts']) == zone['start']
        assert start['ts'] <= end['ts']


def test_counters_of_the_json(recorded, trace_json):
    got = sorted((e['name'], ps(e['ts']), float(e['args']['value']))
                 for e in trace_json['traceEvents'] if e['ph'] == 'C')
    truth = sorted((e['name'], e['start'], float(e.get('real', e['number'])))
                   for t in recorded[0]['threads'] for e in t['events'] if e['kind'] == 'counter')
    assert [g[:2] for g in got] == [t[:2] for t in truth]
    assert [g[2] for g in got] == pytest.approx([t[2] for t in truth], rel=1e-8)


def test_our_own_reader_shows_steps_functions_and_ops(recorded):
    folder = recorded[1].parent
    report = json.loads(view_profile('report', '--format=json', str(folder)).stdout)
    assert report['steps']['count'] == 10
    assert [s['number'] for s in report['steps']['list']] == list(range(100, 110))
    assert {s['name'] for s in report['steps']['list']} == {'train'}
    ops = {(o['device'], o['name']): o for o in report['ops']}
    matmul = ops['/device:GPU:0', 'matmul # 1 ✓']
    assert (matmul['class'], matmul['calls'], matmul['bytes']) == ('compute', 10, 640)
    assert matmul['flops'] == sum(2000 + i for i in range(10))
    assert ops['/device:GPU:0', 'MemcpyH2D']['class'] == 'copy'
    (collective,) = report['collectives']
    assert (collective['kind'], collective['count'], collective['group_size']) == ('all-reduce', 10, 4)
    assert collective['bytes'] == 10 * 8 * 4096
    (transfer,) = report['transfers']
    assert (transfer['direction'], transfer['count'], transfer['bytes']) == ('h2d', 10, 10 * 4096)
    assert report['compile']['count'] == 1
    host = {o['name'] for o in report['host_ops']}
    assert {'inner', 'load_batch', 'consume', 'tick'} <= host
