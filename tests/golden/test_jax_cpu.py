"""The points of docs/reference/jax-cpu.md#planes-and-threads that a reader would get wrong, as far
as there are views for them (steps, compilation and memory come later), and the independent
decoder's table of XLA:CPU ops."""
import csv
import io
import json
import os

import pytest

from common import least, report, table, trace, view_profile

CPU = 'jax_cpu/'
TPU = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
JULIA = 'xla_cpu_julia/EnzymeAD__Reactant.jl/gh-pages_v0.2.105/tutorials/plugins/profile/2025_05_15_16_04_13'
MNIST = 'mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb'
SLOW = 'three_runs/plugins/profile/2026_11_21_06_34_02/vm.xplane.pb'
EIGHT = 'multi_device/plugins/profile/2026_11_21_06_33_21/vm.xplane.pb'
RECOMPILE = 'recompile/plugins/profile/2026_11_21_06_33_18/vm.xplane.pb'

HLO_OPS = table('expected/jax_cpu/computed_hlo_ops.tsv')
RUNS = sorted({r['path'] for r in HLO_OPS})
ASYNC = {'dot', 'dot.1', 'dot.2', 'dot.3', 'broadcast_maximum_fusion', 'broadcast_maximum_fusion.1'}


def raw(path):
    return report(CPU + path, '--group=raw')


def totals(ops):
    """name → (Σ total, calls) over devices"""
    out = {}
    for o in ops:
        had = out.get(o['name'], (0, 0))
        out[o['name']] = (had[0] + o['total_ps'], had[1] + o['calls'])
    return out


def decoded(path):
    """hlo_op → (Σ ps of the events that carry it, events)"""
    out = {}
    for r in HLO_OPS:
        if r['path'] == path:
            had = out.get(r['hlo_op'], (0, 0))
            out[r['hlo_op']] = (had[0] + int(r['sum_ps']), had[1] + int(r['events']))
    return out


def test_01_tpu_ops_are_on_the_device_clock():
    ours = totals(report(TPU, '--group=raw')['ops'])
    assert ours['copy-done.4'][0] == 77773215731250  # 70,539,145.15 µs by XEvent.duration_ps
    assert ours['copy-done.2'][0] == 77642772818750  # 87,957,829.85
    assert report(TPU, '--group=raw')['window']['clock'] == 'device'


@pytest.mark.parametrize('path', [TPU, CPU + MNIST, CPU + EIGHT])
def test_02_shares_name_their_denominator(path):
    """No row IDLE: shares of ops add up to 1 a device, those of the window leave the idle time."""
    made = report(path, '--group=raw')
    for d in made['devices']:
        ops = [o for o in made['ops'] if o['device'] == d['name']]
        b = d['breakdown']
        assert abs(sum(o['self_share_of_ops'] for o in ops) - 1) < 1e-8 * len(ops)
        assert abs(sum(o['self_share_of_window'] for o in ops) - b['busy_ps'] / b['window_ps']) < 1e-8 * len(ops)
        assert b['idle_ps'] > 0


@pytest.mark.parametrize('path', RUNS)
def test_05_ops_are_the_events_with_hlo_op(path):
    made = raw(path)
    assert {d['kind'] for d in made['devices']} == {'cpu'}
    assert sum(d['events'] for d in made['devices']) == sum(calls for _, calls in decoded(path).values())
    assert {n: calls for n, (_, calls) in totals(made['ops']).items()} == \
        {n: calls for n, (_, calls) in decoded(path).items()}


@pytest.mark.parametrize('path', RUNS)
def test_06_async_ops_last_to_their_end(path):
    """The decoder sums the launches only. An op whose `end:` comes later takes longer than that; all
    others to the picosecond the same."""
    ours, launches = totals(raw(path)['ops']), decoded(path)
    longer = {n for n in launches if ours[n] != launches[n]}
    assert all(ours[n][0] > launches[n][0] for n in longer)
    assert longer <= ASYNC


def test_06_dot_from_start_to_end():
    """mnist: `dot` and `dot.1`, 33.1 and 3.7 ms of launches, 75.0 and 18.9 from start to end; recompile,
    multi_device and async_dispatch have no op that outlives its launch."""
    ours = totals(raw(MNIST)['ops'])
    assert (ours['dot'], ours['dot.1']) == ((75058804000, 20), (18913859000, 20))
    assert decoded(MNIST)['dot'] == (33079536000, 20)
    for path in RUNS:
        if path.split('/')[0] in ('recompile', 'multi_device', 'async_dispatch'):
            assert totals(raw(path)['ops']) == decoded(path)


def test_06_eight_devices_by_ordinal():
    made = raw(EIGHT)
    assert sorted(d['name'] for d in made['devices']) == [f'/host:CPU:{i}' for i in range(8)]
    assert {d['events'] for d in made['devices']} == {190}
    for row in HLO_OPS:
        if row['path'] == EIGHT:
            assert row['device_ordinals'] == '0,1,2,3,4,5,6,7'
            assert {o['calls'] for o in made['ops'] if o['name'] == row['hlo_op']} == {10}
            assert len([o for o in made['ops'] if o['name'] == row['hlo_op']]) == 8


def test_06_opcodes_come_from_the_protos():
    """Names are those of JAX's primitives; what an op is stands in its HLO alone. A collective's time
    includes the wait."""
    kinds = {(o['name'], o['category'], o['class']) for o in raw(EIGHT)['ops']}
    assert {('psum_invariant.7', 'all-reduce', 'communication'), ('all_gather.7', 'all-gather', 'communication'),
            ('ppermute.3', 'collective-permute', 'communication'), ('all-to-all', 'all-to-all', 'communication'),
            ('reduce_scatter.7', 'reduce-scatter', 'communication'), ('ynn_fusion', 'fusion', 'compute'),
            ('concatenate', 'concatenate', 'compute')} <= kinds
    assert totals(raw(EIGHT)['ops'])['all_gather.7'] == (81426104000, 80)


@pytest.mark.parametrize('path', RUNS)
def test_06_self_is_busy_time(path):
    """A CPU device is one timeline: what waits for an async op does not claim its time."""
    for d in raw(path)['devices']:
        ops = [o for o in raw(path)['ops'] if o['device'] == d['name']]
        assert sum(o['self_ps'] for o in ops) == d['breakdown']['busy_ps']


def test_09_no_call_is_dropped():
    """XProf leaves out the first and the last step: 18 of 20. Every op of mnist ran 20 times."""
    assert {calls % 20 for _, calls in totals(raw(MNIST)['ops']).values()} == {0}
    assert min(calls for _, calls in totals(raw(MNIST)['ops']).values()) == 20


def test_12_zero_durations_count_as_calls():
    """Julia's profile has no hlo_op (jaxlib's older thread lines): events of all host lines, the
    instants among them, and Σ self is what the lines are busy."""
    lines = [r for r in table('expected/computed_xplane.tsv') if r['path'].startswith('xla_cpu_julia/')]
    made = report(JULIA, '--group=raw')
    assert {d['kind'] for d in made['devices']} == {'other'}
    assert sum(o['calls'] for o in made['ops']) == sum(int(r['events']) for r in lines)
    assert sum(o['self_ps'] for o in made['ops']) == sum(int(r['busy_ps']) for r in lines)
    assert any(o['min_ps'] == 0 for o in made['ops'])


@pytest.mark.parametrize('path', RUNS)
def test_13_times_count_from_the_start_of_the_profile(path):
    """`timestamp_ns` is relative to profile_start_time, which lies within two seconds of the run's name."""
    session = raw(path)['session']
    assert abs(session['base_unix_ns'] - session['captured_unix_ns']) < 2 * 10**9 or 'plugins' not in session['path']
    op_lines = [r for r in table('expected/jax_cpu/computed_xplane.tsv') if r['path'] == path and r['first_ps']]
    window = raw(path)['window']
    assert min(int(r['first_ps']) for r in op_lines) <= window['start_ps']
    assert window['end_ps'] <= max(int(r['last_ps']) for r in op_lines)


ODD = CPU + 'odd_names/plugins/profile/2026_11_21_06_35_03/vm.xplane.pb'
ODD_NAMES = {'inner', 'outer', '(no name)', 'train', 'no_number', 'args', '</script><b>html', ' ', 'naïve ✓ 日本語',
             'tab\there', '%s %d', 'c', 'a', 'line\nbreak', '\x01ctl', '=1+1', 'nul␀inside', 'quote"\\'}


def test_15_hostile_names_in_json():
    """18 names and one of 20,000 x; `a/b:c` has the display name `c`; a NUL byte, which no C string can
    hold, is shown by its symbol."""
    names = [o['name'] for o in report(ODD)['ops']]
    long, = [n for n in names if n.startswith('xxx')]
    assert set(names) - {long} == ODD_NAMES and len(names) == len(ODD_NAMES) + 1
    assert set(long) == {'x'} and len(long) == 20000


def test_15_hostile_names_elsewhere(tmp_path):
    """The same names on events of equal length, so that no table hides one."""
    path = tmp_path / 'odd.trace.json'
    events = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 10, 'name': name}
              for i, name in enumerate(sorted(ODD_NAMES))]
    path.write_text(json.dumps({'traceEvents': events}), encoding='utf-8')

    def shown(fmt):
        return view_profile('report', f'--format={fmt}', '--top=30', str(path),
                            env={**os.environ, 'COLUMNS': '200'}).stdout

    page = shown('html')
    assert '<script' not in page and '</script' not in page and '<b>html' not in page
    assert '&lt;/script&gt;&lt;b&gt;html' in page and 'quote&quot;\\' in page and 'naïve ✓ 日本語' in page
    rows = list(csv.DictReader(io.StringIO(shown('csv'))))
    assert len(rows) == len(ODD_NAMES)
    plain = {n for n in ODD_NAMES if n.isprintable()}
    in_cells = {n if n != '=1+1' else "'=1+1" for n in plain}  # no formula in a spreadsheet
    assert in_cells <= {r['name'] for r in rows}
    text = shown('text')
    assert all(n.strip() in text for n in plain)
    for out in (page, shown('csv'), text):
        assert not [c for c in out if c != '\n' and (ord(c) < 32 or ord(c) == 127)]


def test_16_a_capture_by_address():
    """`remote.trace.json.gz` has no host in its name; it belongs to the one whose xplane lies beside it."""
    session = report(CPU + 'server_capture', '--group=raw')['session']
    assert session['hosts'] == ['127.0.0.1_9012']
    assert sorted(f['path'].rsplit('/', 1)[1] for f in session['files']) == \
        ['127.0.0.1_9012.xplane.pb', 'remote.trace.json.gz']


def figures(folder):
    made = report(CPU + folder, '--group=raw')
    return {k: made[k] for k in ('window', 'devices', 'ops', 'scopes', 'modules', 'quality')}


def test_17_caches_of_xprof_are_ignored():
    """The same run before and after XProf wrote 20 files into it."""
    assert figures('xprof_opened') == figures('perfetto_trace')
    files = report(CPU + 'xprof_opened', '--group=raw')['session']['files']
    assert {f['path'].rsplit('/', 1)[1] for f in files} == {'vm.trace.json.gz', 'vm.xplane.pb'}


def test_18_an_empty_window_is_valid():
    made = report(CPU + 'empty_window')
    assert (made['devices'], made['ops'], made['scopes'], made['modules']) == ([], [], [], [])
    assert [q['code'] for q in made['quality']] == ['empty-window']
    folder = str(trace(CPU + 'empty_window'))
    assert 'No events in this profile' in view_profile('top', folder).stdout
    assert '0 events' in view_profile('report', folder).stdout
    assert 'No op events' in view_profile('report', '--format=html', folder).stdout
    assert len(view_profile('report', '--format=csv', folder).stdout.splitlines()) == 1


def test_18_the_empty_element_at_the_end_of_a_json():
    """JSON of jaxlib ends `…,{}]`: nothing to remark about it but that nothing else was recorded."""
    made = report(CPU + 'empty_window/plugins/profile/2026_11_21_06_35_05/vm.trace.json.gz')
    assert made['ops'] == [] and [q['code'] for q in made['quality']] == ['empty-window'] and not made['session']['files'][0]['partial']


def test_memory_profiles_are_listed():
    listed = json.loads(view_profile('list', '--format=json', str(trace(CPU))).stdout)
    session, = [s for s in listed['sessions'] if s['kind'] == 'memory']
    assert [(f['path'], f['kind'], f['bytes']) for f in session['files']] == [('memory/memory.prof', 'memory', 1110)]
    assert len(listed['sessions']) == least(13, 12)


def test_19_programs_are_joined_by_their_stat():
    """recompile: ids of metadata are not program ids; six programs under four names. One launch is one
    op here, so self times add up to the decoder's sums."""
    want = {}
    for r in HLO_OPS:
        if r['path'] == RECOMPILE:
            key = (r['hlo_module'], int(r['program_id']))
            want[key] = want.get(key, 0) + int(r['sum_ps'])
    assert len({p for _, p in want}) > len({m for m, _ in want})
    assert {(m['name'], m['program_id']): m['total_ps'] for m in raw(RECOMPILE)['modules']} == want


def test_19_scope_of_a_fusion_without_one():
    ops = {o['name']: o for o in raw(SLOW)['ops']}
    slow = 'jit(train_step)/transpose(jvp(slow_block))'
    assert ops['ynn_fusion.4']['scope'] == f'{slow}/dot_general'
    assert ops['ynn_fusion.5']['scope'] == 'jit(train_step)/jvp(slow_block)/reduce_sum'
    assert ops['dot']['scope'] == f'{slow}/transpose'
    assert [round(ops[n]['total_ps'] / 1e9, 1) for n in ('ynn_fusion.4', 'ynn_fusion.5')] == [59.4, 50.2]


def test_19_the_slow_block_heads_the_second_run():
    """What the whole product is for: three_runs, the newest run, by scope."""
    folder = str(trace(CPU + 'three_runs'))
    top = json.loads(view_profile('top', '--group=scope', '--format=json', folder).stdout)
    assert top['session']['name'] == '2026_11_21_06_34_02'
    assert 'slow_block' in top['ops'][0]['name']
    assert sum('slow_block' in o['name'] for o in top['ops'][:3]) == 3
    base = json.loads(view_profile('top', '--group=scope', '--format=json', folder, '2026_11_21_06_34_00').stdout)
    assert not any('slow_block' in o['name'] for o in base['ops'])


BOTH_HALVES = [p for p in RUNS if p.startswith(('multi_device', 'recompile', 'async_dispatch'))]


@pytest.mark.parametrize('path', BOTH_HALVES)
def test_the_json_half_has_the_same_ops(path):
    """Where no op outlives its launch, both halves of a run give the same ops to the picosecond. What
    the JSON lacks (the links to the ends) is said."""
    half = report(CPU + path.replace('.xplane.pb', '.trace.json.gz'), '--group=raw')
    assert totals(half['ops']) == totals(raw(path)['ops'])
    assert [d['breakdown'] for d in half['devices']] == [d['breakdown'] for d in raw(path)['devices']]
    assert {(o['name'], o['class']) for o in half['ops']} == {(o['name'], o['class']) for o in raw(path)['ops']}
    assert {q['code'] for q in half['quality']} == {q['code'] for q in raw(path)['quality']} | {'cpu-async-unjoined'}


@pytest.mark.parametrize('path', RUNS)
def test_steps_hold_their_work(path):
    assert 'steps-apart' not in {q['code'] for q in raw(path)['quality']}
