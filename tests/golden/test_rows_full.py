"""The real golden figures of docs/reference/metrics.md#sample-profiles for what a full report says
beyond its op tables: transfers by direction, gaps, compilation, steps, launches, balance, and what
the findings make of them."""
import json
import re

import pytest

from common import TRACES, report, timelines, trace, view_profile
from test_rows_63 import COPY_DONE, HTA_TEST, V2, VLLM_11, VLLM_12

US, MS, S = 10**6, 10**9, 10**12
ROCM = 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/'
JULIA = 'xla_cpu_julia/EnzymeAD__Reactant.jl/gh-pages_v0.2.105/tutorials/plugins/profile/2025_05_15_16_04_13/'
RECOMPILE = 'jax_cpu/recompile/plugins/profile/2026_11_21_06_33_18/vm.xplane.pb'
RESNET = 'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz'
CHIPS = [f'/device:TPU:{i}' for i in range(4)]


def findings(path):
    return json.loads(view_profile('findings', '--format=json', str(trace(path))).stdout)['findings']


def one(path, rule):
    found, = [f for f in findings(path) if f['id'] == rule]
    return found


def fired(path):
    return [f['id'] for f in findings(path) if f['status'] == 'fired']


def transfers(path, device):
    return {t['direction']: t for t in report(path)['transfers'] if t['device'] == device}


# ---- the offload run on four TPU chips -----------------------------------------------------------


@pytest.mark.parametrize('device,h2d,d2h', COPY_DONE)
def test_transfers_by_direction(device, h2d, d2h):
    """57.77 s host → device, 18.24 s device → host: the waits in copy-done and the starts before them."""
    rows = transfers(V2, device)
    assert set(rows) == {'h2d', 'd2h'}
    starts = {'h2d': 0, 'd2h': 0}
    for o in report(V2, '--group=raw')['ops']:
        if o['device'] == device and o['name'].startswith('copy-start'):
            starts['d2h' if o['name'] in ('copy-start.1', 'copy-start.3', 'copy-start.5') else 'h2d'] += o['total_ps']
    assert rows['h2d']['total_ps'] == h2d + starts['h2d']
    assert rows['d2h']['total_ps'] == d2h + starts['d2h']
    assert rows['h2d']['count'] == rows['d2h']['count'] == 300
    mine, = [d for d in report(V2)['devices'] if d['name'] == device]
    assert rows['h2d']['exposed_ps'] + rows['d2h']['exposed_ps'] == mine['breakdown']['exposed_copy_ps']
    # f32[5,1024,1024,256] = 5 GiB a copy
    assert rows['h2d']['bytes'] == rows['d2h']['bytes'] == 300 * 5 * 2**30


def test_async_line_is_in_flight_time():
    """TPU:0 alone has events on `Async XLA Ops`: 600, which overlap: Σ 197,605.762 ms, union 78,415.408."""
    rows = transfers(V2, '/device:TPU:0')
    in_flight = [rows[d]['busy_ps'] for d in ('h2d', 'd2h')]
    assert max(in_flight) <= 78_415_408_284_692 <= sum(in_flight) + 10**6


def test_largest_gaps():
    gaps = [g for g in report(V2)['gaps'] if g['device'] == '/device:TPU:0']
    assert [g['dur_ps'] for g in gaps[:3]] == [5547053171250, 3349549146250, 2743199430000]
    first = 5438997127500  # the window's start on the device's clock, which starts of gaps are not on
    since = [round((g['start_ps'] - first) / S, 1) for g in gaps[:3]]
    assert all(abs(s - want) <= .2 for s, want in zip(since, (8.5, 2.2, 5.6))), since


def test_compiles():
    made = report(V2)['compile']
    assert made['count'] == 4 and made['recompiled'] == []
    assert round(made['total_ps'] / MS, 3) == 1528.924
    assert round((made['total_ps'] + made['lower_ps']) / MS, 3) == 1800.589
    of = {f['function']: f for f in made['functions']}
    for name, seconds in (('convert_element_type', 1.159), ('broadcast_in_dim', .078), ('_psum', .085), ('f', .207)):
        assert of[name]['compiles'] == 1 and round(of[name]['total_ps'] / S, 3) == seconds, name
    assert (of['f']['calls'], of['_psum']['calls']) == (100, 3)


def test_steps_of_the_tpu_run():
    """100 runs of jit_f. On the device's clock they are alike (CV 5e-5 to 2.5e-4); on the host's they are not
    (0.116)."""
    steps = report(V2)['steps']
    assert steps['source'] == 'modules' and steps['count'] == 100
    assert steps['counted'] in (98, 99) and steps['list'][-1]['partial']
    for i in range(4):
        durations = [s['devices'][i]['dur_ps'] for s in steps['list'] if not s['partial'] and not s['warm_up']]
        mean = sum(durations) / len(durations)
        cv = (sum((x - mean) ** 2 for x in durations) / len(durations)) ** .5 / mean
        assert 5e-5 * .9 <= cv <= 2.5e-4 * 1.1, (i, cv)
    assert steps['cv'] < 2.5e-4


def test_module_runs_on_the_host_clock():
    """The line `XLA Modules`: the median of jit_f on TPU:0 is 784.123 ms there."""
    module, = [m for m in report(V2)['modules'] if m['name'] == 'jit_f']
    assert module['runs'] == 400
    assert 770 * MS < module['p50_ps'] < 800 * MS


def test_findings_of_the_tpu_run():
    """The issue's own example; 14.8 % idle just does not make F1 fire, a 5.5 s gap does F2."""
    found = {f['id']: f for f in findings(V2)}
    copies = found['F6'] if found['F6']['status'] == 'fired' else found['F20']
    assert copies['status'] == 'fired' and copies['severity'] == 'high'
    assert findings(V2)[0]['id'] in ('F6', 'F20')
    worst = transfers(V2, copies['where'][0]['device'])  # TPU:0 57.77 s and 18.24 s; TPU:1 waits 11 ms longer
    for direction in ('h2d', 'd2h'):
        assert f'{worst[direction]["total_ps"] / S:.2f} s' in copies['message'], copies['message']
    assert 'copy-done' in copies['message']
    assert found['F1']['status'] == 'clear' and round(100 * found['F1']['evidence']['value'], 1) in (14.8, 1480.6)
    assert found['F2']['status'] in ('fired', 'explained')
    for rule in ('F10', 'F12', 'F13', 'F15'):
        assert found[rule]['status'] == 'clear', (rule, found[rule]['message'])


def test_balance_of_the_tpu_run():
    """Compute of the four chips differs by a tenth of a per cent."""
    b = report(V2)['balance']
    compute = [2409145078750, 2404046932500, 2404978770000, 2406166622500]
    assert (b['devices'], b['max_ps'], b['min_ps']) == (4, max(compute), min(compute))
    assert abs(b['mean_ps'] - sum(compute) // 4) <= 1
    assert (b['busiest']['device'], b['idlest']['device']) == ('/device:TPU:0', '/device:TPU:1')


def test_collectives_of_the_tpu_run():
    for device in CHIPS:
        rows = [c for c in report(V2)['collectives'] if c['device'] == device]
        mine, = [d for d in report(V2)['devices'] if d['name'] == device]
        assert [c['kind'] for c in rows] == ['all-reduce'] and rows[0]['count'] == 3
        assert rows[0]['total_ps'] == rows[0]['exposed_ps'] == mine['breakdown']['comm_ps']
        assert (rows[0]['group_size'], rows[0]['groups']) == (2, 4)  # replica_groups=[4,2]<=[2,4]T(1,0)
        # Device N of 8 with N + 4. The chips here are 4 to 7 (core_details): none sees its partner, so no wait is known.
        n = CHIPS.index(device)
        assert rows[0]['members'] == f'{n},{n + 4}' and rows[0]['wait_ps'] is None


@pytest.mark.parametrize('path', [VLLM_11, VLLM_12])
def test_collectives_of_vllm(path):
    """Named psum.N in the second run: by category they are all-reduces all the same."""
    for device in CHIPS[:2]:
        rows = [c for c in report(path)['collectives'] if c['device'] == device]
        mine, = [d for d in report(path)['devices'] if d['name'] == device]
        kinds = {c['kind'] for c in rows}
        assert 'all-reduce' in kinds
        assert kinds <= {'all-reduce', 'all-gather', 'all-to-all', 'reduce-scatter', 'collective-permute'}
        assert sum(c['union_ps'] for c in rows) >= mine['breakdown']['comm_ps']
        assert sum(c['count'] for c in rows if c['kind'] == 'all-reduce') >= 129


# ---- compilation elsewhere -----------------------------------------------------------------------


def test_compile_of_the_julia_run():
    made = report(JULIA + 'fv-az1373-146.xplane.pb')['compile']
    assert (made['count'], round(made['total_ps'] / MS, 3)) == (1, 27.318)


@pytest.mark.parametrize('path', [VLLM_11, VLLM_12,
                                  *sorted(str(p.relative_to(TRACES)) for p in (TRACES / ROCM).rglob('*.xplane.pb'))])
def test_no_compiles(path):
    assert report(path)['compile']['count'] == 0
    assert one(path, 'F10')['status'] in ('clear', 'not_evaluated')


def test_recompiles_of_a_jax_program():
    """Steps 3, 6 and 9 of 12 take 105 to 118 ms instead of 0.1 to 0.5: a new shape each time."""
    made = report(RECOMPILE)
    late = [f for f in made['compile']['functions'] if f['late']]
    assert sum(f['late'] for f in late) >= 3
    found = one(RECOMPILE, 'F10')
    assert findings(RECOMPILE)[0]['id'] == 'F10' and found['severity'] == 'high'
    slow = [s for s in made['steps']['list'] if s['dur_ps'] > 50 * MS]
    assert [s['number'] for s in slow] == [3, 6, 9]
    for place in found['where'][:3]:
        assert any(s['start_ps'] <= place['start_ps'] <= s['start_ps'] + s['dur_ps'] for s in slow)


# ---- GPU -----------------------------------------------------------------------------------------


def test_input_bound_resnet():
    """torch_tb_profiler: 33.4 % of the steps in DataLoader; with four workers 1,186 µs in all of them."""
    found = one(RESNET, 'F14')
    assert found['status'] == 'fired' and found['severity'] == 'high'
    assert fired(RESNET)[0] in ('F14', 'F23') and 'F14' in fired(RESNET)[:2]
    other = [p for p in timelines() if 'resnet50_num_workers_4' in str(p)]
    for path in other:
        assert one(path, 'F14')['status'] == 'clear'


def test_pageable_copies_of_resnet():
    """12 ms of copies, all from pageable memory but for the memsets: 1.2 % of the window."""
    rows = transfers(RESNET, 'GPU 0')
    names = {o['name']: o for o in report(RESNET, '--group=raw')['ops'] if o['class'] == 'copy'}
    pageable = [o for n, o in names.items() if 'Pageable' in n]
    assert sum(t['pageable'] or 0 for t in rows.values()) == sum(o['calls'] for o in pageable)
    assert sum(t['pageable_ps'] or 0 for t in rows.values()) == sum(o['total_ps'] for o in pageable) > 0
    assert one(RESNET, 'F7')['status'] in ('fired', 'explained')


def test_exposed_communication_of_hta():
    """exposed 73,298 of 745,239 µs: 9.8 %. Overlap 70.84 % is just enough for F5 to be clear."""
    found = {f['id']: f for f in findings(HTA_TEST)}
    assert found['F4']['status'] in ('fired', 'explained') and found['F4']['impact']['gross_ps'] == 73298 * US
    assert found['F5']['status'] == 'clear' and round(100 * found['F5']['evidence']['value'], 2) in (70.84, 7084)
    assert found['F1']['status'] == 'clear'  # 3.66 %


def transfer_classes(path):
    """direction → (calls, Σ ps) from the names alone"""
    words = {'HtoD': 'h2d', 'DtoH': 'd2h', 'DtoD': 'd2d', 'PtoP': 'p2p', 'Memset': 'memset'}
    out = {}
    for o in report(path, '--group=raw')['ops']:
        hit = re.match(r'Memcpy (\w+)|(Memset)', o['name'])
        if hit and o['class'] == 'copy':
            key = words[hit[1] or hit[2]]
            had = out.get(key, (0, 0))
            out[key] = had[0] + o['calls'], had[1] + o['total_ps']
    return out


@pytest.mark.parametrize('path', [RESNET, HTA_TEST])
def test_directions_by_name(path):
    got = {t['direction']: (t['count'], t['total_ps']) for t in report(path)['transfers'] if t['count']}
    assert got == transfer_classes(path)


# ---- memory --------------------------------------------------------------------------------------


def test_memory_profile():
    """memory.prof: eight allocations at five stacks (traces/expected/jax_cpu/memory_prof.tsv)."""
    made = report('jax_cpu/memory/memory.prof')['memory']['allocators']
    assert sum(m['peak_bytes'] for m in made) == 3145728 + 1048576 + 200704
