"""The tracks of the analysis in the timeline: drawn, found and summed as the file's own, and equal to the report."""
import collections
import urllib.parse

import pytest

from conftest import Server
from test_timeline import read, window
from traces import trace

FILES = {
    'tpu': 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb',
    'rocm': 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08',
    'cuda': 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_08_24/cyclops.xplane.pb',
    'cpu': 'jax_cpu/mnist_train',
    'pytorch': 'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz',
}
PARTS = {'compute': 'compute_ps', 'exposed communication': 'exposed_comm_ps', 'exposed copy': 'exposed_copy_ps',
         'idle': 'idle_ps'}


@pytest.fixture(scope='module', params=FILES)
def api(request):
    server = Server(trace(FILES[request.param]))
    session = server.sessions()[0]['id']
    get = lambda what: server.get(f'/api/v1/session/{session}/{what}')
    get.file = request.param
    yield get
    server.stop()


def known(pairs):
    return {k: v for k, v in pairs if v}


def derived(api):
    """{(device, kind): [tracks]}"""
    found = collections.defaultdict(list)
    for g in read(api('tracks?analysis=1'))['analysis']:
        for k in g['tracks']:
            found[g['of'], k['derived']].append(k)
    return found


def test_tracks_add_up_to_the_report(api):
    tracks, report = derived(api), read(api('report'))
    assert report['devices']
    for d in report['devices']:
        assert sum(k['dur_ps'] for k in tracks[d['name'], 'IDLE']) == d['breakdown']['idle_ps']
        assert sum(k['dur_ps'] for k in tracks[d['name'], 'PARTS']) == d['breakdown']['window_ps']


def breakdowns(api, begin, end):
    return {d['device']: d for d in read(api(f'range?analysis=1&from={begin}&to={end}'))['devices']}


def test_the_range_of_a_device_is_its_report(api):
    tracks, report = derived(api), read(api('report'))
    for d in report['devices']:
        band, = tracks[d['name'], 'PARTS']
        begin, end = band['from_ps'], band['to_ps']
        got = breakdowns(api, begin, end)[d['name']]
        assert {PARTS[p['name']]: p['ps'] for p in got['breakdown']} == known((k, d['breakdown'][k]) for k in PARTS.values())
        assert {c['name']: c['ps'] for c in got.get('idle_causes', [])} == known(d['idle_causes'].items())
        middle = begin + (end - begin) // 3 + 1
        halves = collections.Counter()
        for half in ((begin, middle), (middle, end)):
            part = breakdowns(api, *half)[d['name']]['breakdown']
            assert sum(p['ps'] for p in part) == half[1] - half[0]
            halves.update({p['name']: p['ps'] for p in part})
        assert halves == {p['name']: p['ps'] for p in got['breakdown']}


def test_the_ops_of_a_range_are_those_of_the_report(api):
    report = read(api('report'))
    if any(d['own_clock'] for d in report['devices']) or api.file == 'cpu':
        pytest.skip('its ops have a clock of their own, or run at once')
    busy = read(api('range'))
    assert sum(o['self_ps'] for o in report['ops']) == busy['busy_ps']
    device = [d['name'] for d in report['devices']]
    ops, rows = collections.Counter(), collections.Counter()
    for of, some in ((ops, report['ops']), (rows, busy['rows'])):
        for o in some:
            where = o['device'] if of is rows else device[o['device_index']]
            of.update({(where, o['name'], k): o[k] for k in ('calls', 'total_ps', 'self_ps')})
    assert rows and (rows == ops or (busy['names'] > len(busy['rows']) and rows.keys() < ops.keys() and rows <= ops))
    for name in device:
        of = {r['of_ps'] for r in busy['rows'] if r['device'] == name}
        assert of <= {sum(o['self_ps'] for o in report['ops'] if device[o['device_index']] == name)}


def test_slices_have_numbers_of_their_own(api):
    of_file = read(api('tracks'))
    assert 'analysis' not in of_file
    last = max(k['id'] for g in of_file['groups'] for k in g['tracks'])
    ids = [k['id'] for tracks in derived(api).values() for k in tracks]
    assert min(ids) > last and len(set(ids)) == len(ids)
    ask = f'slices?px=200&tracks={min(ids)}-{max(ids)}'
    assert api(ask).status == 404
    assert api(f'slices?analysis=1&tracks={last},{min(ids)}').status == 404
    _, rows, names = window(api(ask + '&analysis=1'))
    counts = collections.Counter()
    for (track, _), row in rows.items():
        counts[track] += sum(r[4] for r in row)
    assert counts == {k['id']: k['events'] for tracks in derived(api).values() for k in tracks}
    own = window(api('slices?px=200'))
    assert not {r[2] for row in own[1].values() for r in row} & {r[2] for row in rows.values() for r in row}
    assert not set(names) & set(own[2])


def event(api, track, index=0):
    assert api(f'event?id={track["id"]}.0.{index}').status == 404
    return read(api(f'event?analysis=1&id={track["id"]}.0.{index}'))


def test_a_slice_says_what_the_analysis_knows(api):
    tracks, report = derived(api), read(api('report'))
    for (device, kind), found in tracks.items():
        e = event(api, found[0])
        assert (e['derived'], e['track']) == (kind, found[0]['id'])
        if kind == 'FINDINGS':
            number = e['name'].split()[0]
            finding, = [f for f in report['findings'] if f['id'] == number]
            assert (e['args']['advice'], e['args']['number']) == (finding['suggestion'], int(number[1:]))
        if kind == 'IDLE':
            assert e['name'].startswith(e['args']['cause']) and e['args']['gap_ps'] >= e['dur_ps']
        if kind == 'SLOWEST':
            assert e['op'] == e['name'] and e['op_self_ps'] == e['args']['self_ps']
        if kind == 'STEPS':
            assert e['args'].get('step') in [s['number'] for s in report['steps']['list']]


def walk(api, q, backwards=False):
    """Ids of all hits, in the order in which they are gone through."""
    ids, begin = [], 'from=-1000000000000000'
    if backwards:
        begin = 'before=' + walk(api, q)[-1]
        ids.append(begin[7:])
    while True:
        answer = read(api(f'search?analysis=1&q={urllib.parse.quote(q)}&{begin}'))
        if not answer['found']:
            assert len(ids) == answer['total']
            return ids
        ids.append(answer['found']['id'])
        begin = ('before=' if backwards else 'after=') + ids[-1]


def test_a_search_goes_through_both_in_order(api):
    name = event(api, [k for (_, kind), k in derived(api).items() if kind == 'SLOWEST'][0][0])['name']
    words = [w for w in (name[:60], name) if read(api(f'search?analysis=1&q={urllib.parse.quote(w[:190])}'))['total'] <= 300]
    if not words:
        pytest.skip('too many calls')
    there = walk(api, words[0][:190])
    assert len(set(there)) == len(there)
    assert walk(api, words[0][:190], backwards=True) == there[::-1]
    assert len(there) > read(api(f'search?q={urllib.parse.quote(words[0][:190])}'))['total']
