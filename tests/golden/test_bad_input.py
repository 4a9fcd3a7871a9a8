"""Traces that lack what analyses need, or contradict themselves: a report with `quality`, never a
division by zero, a NaN or a made-up number."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import pytest

import identities
from common import PROGRAM, ROOT, trace, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, kineto, xspace  # noqa: E402
from gen.planted import fused, kernels  # noqa: E402
from gen.scene import EPOCH_NS, MS, US, Event, GpuLoop, Scene, TpuChip  # noqa: E402
from used import run_used  # noqa: E402


def check(path, *options):
    """The report, after every identity; findings and the other formats must come, too."""
    done = view_profile('report', '--format=json', *options, str(path))
    made = identities.strict(done.stdout)
    identities.check(made)
    for fmt in ('text', 'csv', 'html'):
        shown = view_profile('report', f'--format={fmt}', str(path)).stdout
        assert 'nan' not in shown.lower().replace('nano', '').split() and '-nan' not in shown and ' inf ' not in shown
    found = view_profile('findings', '--format=json', str(path))
    assert identities.strict(found.stdout)['findings'] == made['findings']
    return made


def fired(made):
    return {f['id'] for f in made['findings'] if f['status'] == 'fired'}


def codes(made):
    return {q['code'] for q in made['quality']}


def chrome(tmp_path, events, **top):
    path = tmp_path / 'odd.pt.trace.json'
    path.write_text(json.dumps({**top, 'traceEvents': events}), encoding='utf-8')
    return path


def x(name, ts, dur, tid=7, cat='kernel', pid=0, **args):
    event = {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'args': args}
    return event if dur is None else {**event, 'dur': dur}


def kernel(ts, dur, name='k', stream=7, **args):
    return x(name, ts, dur, stream, device=0, stream=stream, **args)


# ---- little there --------------------------------------------------------------------------------


@pytest.mark.parametrize('path', [
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/trace_diff/test/test.json.gz',
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/negative_queue_length_values_check/rank0.json.gz',
    'pytorch_cuda/facebookresearch__param/dlrm_kineto/worker1_step_12.1694128201556.pt.trace.json'])
def test_launches_without_a_device(path, tmp_path):
    """A real profile whose GPU was not traced: its calls launch work, and its threads are no device whose ops
    were launched."""
    path = trace(path)
    whole = json.loads((gzip.decompress if path.suffix == '.gz' else bytes)(path.read_bytes()))
    whole['traceEvents'] = [e for e in whole['traceEvents'] if e.get('cat', '').lower() not in
                            ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset', 'gpu_user_annotation')]
    (tmp_path / 'host.pt.trace.json').write_text(json.dumps(whole))
    made = check(tmp_path / 'host.pt.trace.json')
    assert not made['analysis']['has_devices'] and 'no-device' in codes(made) and 'unlinked-ops' not in codes(made)
    assert all(d['calls'] is None and d['kernels'] is None for d in made['launch']['devices'])
    assert 'Launches' not in view_profile('report', str(tmp_path)).stdout


def test_no_device(tmp_path):
    """A host alone: no finding about devices is made up, and none says that the file is damaged."""
    scene = Scene()
    thread = scene.host.thread()
    for n in range(5):
        thread.events.append(Event('train', n * 10 * MS, 9 * MS, {'step_num': n, '_r': 1}))
        thread.events.append(Event('PjitFunction(f)', n * 10 * MS + MS, 5 * MS))
    made = check(files.write(scene, 'xspace', tmp_path))
    assert made['analysis']['has_devices'] is False
    assert [s['dur_ps'] for s in made['steps']['list']] == [9 * MS] * 5
    assert all(s['device'] is None and s['breakdown'] is None for s in made['steps']['list'])
    assert fired(made) == set()
    statuses = {f['id']: f['status'] for f in made['findings']}
    for rule in 'F1 F2 F4 F15 F17 F19 F20'.split():
        assert statuses[rule] == 'not_evaluated', rule


def test_nothing_at_all(tmp_path):
    for name, data in (('a.xplane.pb', xspace.encode(Scene().host)), ('b.trace.json', b'{"traceEvents":[]}'),
                       ('c.trace.json', b'[]'), ('d.trace.json', b'{"traceEvents":[{}]}')):
        path = tmp_path / name
        path.write_bytes(data)
        done = view_profile('report', '--format=json', str(path), check=False)
        assert done.returncode in (0, 4), done
        if done.returncode == 0:
            made = identities.strict(done.stdout)
            identities.check(made)
            assert fired(made) <= {'F23'}


def test_one_event(tmp_path):
    made = check(chrome(tmp_path, [kernel(5, 3)]))
    device, = made['devices']
    assert device['breakdown']['window_ps'] == device['breakdown']['compute_ps'] == 3 * US
    assert made['gaps'] == [] and device['gap_count'] == 0
    assert fired(made) <= {'F17'}  # all of the time is one op's


def test_only_events_without_length(tmp_path):
    made = check(chrome(tmp_path, [kernel(t, 0) for t in range(20)]))
    device, = made['devices']
    assert device['breakdown']['busy_ps'] == 0 and device['breakdown']['window_ps'] == 19 * US
    assert made['ops'][0]['calls'] == 20
    assert all(o['self_share_of_ops'] is None for o in made['ops'])
    assert 'F17' not in fired(made) and 'F18' not in fired(made)


def test_all_at_one_instant(tmp_path):
    made = check(chrome(tmp_path, [kernel(7, 0) for _ in range(20)]))
    assert made['devices'][0]['breakdown']['window_ps'] == 0
    assert all(o['self_share_of_window'] is None for o in made['ops'])
    assert fired(made) == {'F23'} and 'no-durations' in codes(made)


def test_no_durations(tmp_path):
    made = check(chrome(tmp_path, [kernel(t, None) for t in range(0, 100, 10)]))
    assert made['ops'][0]['total_ps'] == 0 or made['quality']


def test_no_metadata_and_no_names(tmp_path):
    events = [{'ph': 'X', 'ts': t, 'dur': 2, 'pid': 1, 'tid': 1} for t in range(0, 50, 5)]
    made = check(chrome(tmp_path, events))
    assert sum(o['calls'] for o in made['ops']) == 10


def test_device_without_ops_beside_one_that_has(tmp_path):
    scene = Scene()
    chip = TpuChip(scene)
    fused(chip, MS)
    TpuChip(scene)
    made = check(files.write(scene, 'xspace', tmp_path))
    assert [d['events'] for d in made['devices']] in ([10], [10, 0])
    assert made['balance']['devices'] < 2 and made['balance']['straggler'] is None


# ---- times that contradict each other ------------------------------------------------------------


def test_launch_after_its_kernel(tmp_path):
    """Clocks of host and device disagree: the gap is divided all the same, and quality says so."""
    events = []
    for i in range(10):
        events += [kernel(100 * i, 50, correlation=i + 1),
                   x('cudaLaunchKernel', 100 * i + 70, 10, 5, 'cuda_runtime', 9, correlation=i + 1)]
    made = check(chrome(tmp_path, events))
    for g in made['gaps']:
        assert g['host_late_ps'] + g['in_call_ps'] + g['latency_ps'] + g['causes']['unknown'] == g['dur_ps'] == 50 * US
    assert any('clock' in c for c in codes(made)), codes(made)


def test_one_correlation_for_all(tmp_path):
    events = [x('cudaLaunchKernel', 0, 5, 5, 'cuda_runtime', 9, correlation=1)]
    events += [kernel(10 + 20 * i, 10, correlation=1) for i in range(50)]
    made = check(chrome(tmp_path, events))
    assert made['devices'][0]['gap_count'] == 49


def launched(at, call_pid, correlation, delay=40):
    """A launch call of 10 us, and its kernel."""
    return [x('cudaLaunchKernel', at, 10, 5, 'cuda_runtime', call_pid, correlation=correlation),
            kernel(at + 10 + delay, 20, correlation=correlation)]


@pytest.mark.parametrize('pids', [(9, 9), (9, 10)], ids=['reused', 'of another process'])
def test_correlations_of_several_launches(pids, tmp_path):
    """Ids 1 to 10 twice, by one process or in a file merged of two: each kernel starts 40 us after its own call."""
    events = [e for half in (0, 1) for i in range(10) for e in launched(10_000 * half + 200 * i, pids[half], i + 1)]
    made = check(chrome(tmp_path, events))
    launch, = made['launch']['devices']
    assert (launch['linked_ops'], launch['unlinked_ops']) == (20, 0)
    assert launch['delay_p50_ps'] == launch['delay_p95_ps'] == 40 * US


def test_sequence_numbers_of_several_threads(tmp_path):
    """Four threads count their forward ops alike. Kernels of backward ops lead to the latest of these ops."""
    events = []
    for tid in range(1, 5):
        for n in range(20):
            at = 1000 * n + 100 * tid
            events += [x('nn.Module: Layer_%d' % tid, at, 90, tid, 'python_function', 9),
                       x('aten::mm', at + 1, 80, tid, 'cpu_op', 9, **{'Sequence number': n, 'Fwd thread id': 0})]
    for n in range(20):
        at = 100_000 + 1000 * n
        events += [x('MmBackward0', at, 90, 9, 'cpu_op', 9, **{'Sequence number': n, 'Fwd thread id': 1}),
                   x('cudaLaunchKernel', at + 10, 10, 9, 'cuda_runtime', 9, correlation=n + 1),
                   kernel(at + 40, 20, correlation=n + 1)]
    scope, = check(chrome(tmp_path, events))['scopes']
    assert [s['path'] for s in scope['children']] == ['nn.Module: Layer_4/MmBackward0']


def test_cyclic_flows(tmp_path):
    """Flows that lead back to where they began, to themselves, and backwards in time, in every form of a timeline."""
    events = [e for i in range(4) for e in launched(200 * i, 9, i + 1)]
    for i in range(4):
        for phase, at in (('s', i), ('f', (i + 1) % 4)):
            events.append({'ph': phase, 'id': i, 'cat': 'ac2g', 'name': 'ac2g', 'pid': 9, 'tid': 5, 'ts': 200 * at + 1, 'bp': 'e'})
        events.append({'ph': 't', 'id': 9, 'cat': 'ring', 'name': 'ring', 'pid': 9, 'tid': 5, 'ts': 200 * i + 1})
    events += [x('self', 5000 + 10 * i, 5, 5, 'cpu_op', 9) | {'bind_id': '0x1', 'flow_in': True, 'flow_out': True} for i in range(3)]
    path = chrome(tmp_path, events)
    check(path)
    for form in ('perfetto-json', 'pftrace'):
        out = tmp_path / f'out.{form}'
        view_profile('export', f'--to={form}', '-o', str(out), str(path))
        assert out.stat().st_size


def test_producers_and_consumers_in_a_circle(tmp_path):
    """XLA's flows: each event consumes what the next one produces, and one what it produces itself."""
    scene = Scene()
    thread = scene.host.thread()
    for i in range(5):
        thread.events.append(Event(f'e{i}', i * MS, MS // 2, {'_p': i, '_pt': 1, '_c': (i + 1) % 5, '_ct': 1}))
    thread.events.append(Event('self', 9 * MS, MS, {'_p': 77, '_pt': 1, '_c': 77, '_ct': 1}))
    check(files.write(scene, 'xspace', tmp_path))


def test_overlapping_steps(tmp_path):
    """Steps of two threads overlap, numbers repeat and run backwards: the windows of a device do not
    overlap, and nothing counts twice."""
    events = []
    for i, n in enumerate([5, 4, 4, 3, 9, 9, 0, 2]):
        events.append(x(f'ProfilerStep#{n}', 100 * i, 160, 5 + i % 2, 'user_annotation', 9))
        events.append(x('cudaLaunchKernel', 100 * i + 10, 5, 5 + i % 2, 'cuda_runtime', 9, correlation=i + 1))
        events.append(kernel(100 * i + 20, 60, correlation=i + 1))
    made = check(chrome(tmp_path, events))
    windows = sorted((s['start_ps'], s['start_ps'] + s['dur_ps']) for s in made['steps']['list'] if s['devices'])
    assert all(a[1] <= b[0] for a, b in zip(windows, windows[1:])), windows
    inside = sum(s['breakdown']['busy_ps'] for s in made['steps']['list'] if s['devices'])
    assert inside <= made['devices'][0]['breakdown']['busy_ps']
    assert {q['code'] for q in made['quality']} >= {'steps-overlap', 'steps-order'}


def test_steps_of_one_thread_that_overlap(tmp_path):
    """ProfilerStep 10 to 1, each of which begins while half of the one before is to come; and steps in
    order, one of them a rounding early, of which there is nothing to say."""
    def steps(name, times):
        (tmp_path / name).mkdir()
        events = []
        for i, (n, start, dur) in enumerate(times):
            events.append(x(f'ProfilerStep#{n}', start, dur, 5, 'user_annotation', 9))
            events.append(x('cudaLaunchKernel', start + 10, 5, 5, 'cuda_runtime', 9, correlation=i + 1))
            events.append(kernel(start + 20, 60, correlation=i + 1))
        made = check(chrome(tmp_path / name, events))
        return {q['code']: q['message'] for q in made['quality'] if q['code'].startswith('steps')}
    said = steps('bad', [(10 - i, 100 * i, 150) for i in range(10)])
    assert said['steps-overlap'].startswith('9 steps begin before') and said['steps-order'].startswith('9 steps have')
    assert steps('good', [(i, 1000 * i - (i == 4), 1000) for i in range(10)]) == {}


def test_steps_without_ops(tmp_path):
    events = [kernel(0, 10)] + [x(f'ProfilerStep#{n}', 1000 + 10 * n, 10, 5, 'user_annotation', 9) for n in range(6)]
    made = check(chrome(tmp_path, events))
    for s in made['steps']['list']:
        assert all(d['breakdown']['busy_ps'] == 0 for d in s['devices'])


def test_negative_and_huge_times(tmp_path):
    events = [kernel(-1000, 10), kernel(-500, -20), kernel(9.2e12, 10), kernel(1e300, 10), kernel(0, 1e300),
              x('k', 'NaN', 5), x('k', 10, 'Infinity')]
    made = check(chrome(tmp_path, events))
    assert made['quality']
    assert made['devices'][0]['breakdown']['window_ps'] > 0


def test_kernels_that_overlap_on_a_stream(tmp_path):
    made = check(chrome(tmp_path, [kernel(10 * i, 25, f'k{i % 3}') for i in range(20)]))
    b = made['devices'][0]['breakdown']
    assert b['busy_ps'] == b['window_ps'] == 215 * US
    assert sum(o['self_ps'] for o in made['ops']) == 215 * US


def test_done_without_start(tmp_path):
    """A capture that began between copy-start and copy-done, and ended between another two."""
    scene = Scene()
    chip = TpuChip(scene)
    shape = 'f32[256]{0:S(5)}'
    for n, name in enumerate(['copy-done.1', 'x', 'copy-start.2', 'y', 'copy-done.3', 'all-reduce-done.4',
                              'all-gather-start.5', 'async-done.6', 'copy-start.7', 'copy-start.7']):
        stem = name.split('.')[0] if '.' in name else 'fusion'
        chip.op(name, MS, stem, text=f'%{name} = ({shape}, {shape}, u32[]) {stem}({shape} %p.{n})')
    made = check(files.write(scene, 'xspace', tmp_path))
    assert sum(t['count'] for t in made['transfers']) <= 5


def test_garbled_replica_groups(tmp_path):
    scene = Scene()
    chip = TpuChip(scene)
    shape = 'f32[99999999999,99999999999]{0}'
    for i, groups in enumerate(['{{}}', '{{0,1', '{}', '[2,4]<=[8]', '[0,0]<=[0]', '{{0,1},{2}}',
                                '[99999999999,9]<=[1]', '{{0,1,2,3},{4,5,6,7}}', '']):
        chip.op(f'all-reduce.{i}', MS, 'all-reduce', 'communication',
                text=f'%all-reduce.{i} = {shape} all-reduce(f32[8] %p), replica_groups={groups}')
    made = check(files.write(scene, 'xspace', tmp_path))
    assert all(c['group_size'] is None or 1 <= c['group_size'] <= 8 for c in made['collectives'])
    assert all(c['bytes'] is None or c['bytes'] >= 0 for c in made['collectives'])


# ---- hosts that disagree -------------------------------------------------------------------------


def two_hosts(error_ps, collectives, start_ns=0):
    scene = Scene(hosts=2)
    scene.hosts[1].clock_error = error_ps
    scene.hosts[1].start_ns += start_ns
    chips = [TpuChip(scene, h) for h in scene.hosts]
    for n in range(12):
        since = chips[0].t
        for chip in chips:
            chip.t = since
            with chip.step(n), chip.module(run=n):
                fused(chip, MS)
                if collectives:
                    chip.all_reduce(300 * US, call=n + 1, group=2)
            chip.idle(30 * US)
    return scene


@pytest.mark.parametrize('error_ps,start_ns', [(40 * MS, 0), (0, 86_400 * 10**9), (0, -EPOCH_NS // 2), (10**15, 0)])
def test_clocks_of_hosts(tmp_path, error_ps, start_ns):
    """Milliseconds, a day or half a century apart: nobody is blamed, and the devices read the same."""
    made = check(files.write(two_hosts(error_ps, True, start_ns), 'xspace', tmp_path))
    assert [d['breakdown'] for d in made['devices'][:1]] == [d['breakdown'] for d in made['devices'][1:]]
    assert made['balance']['aligned'] is True and made['balance']['wait_ps'] == 0
    statuses = {f['id']: f['status'] for f in made['findings']}
    assert statuses['F15'] == statuses['F16'] == 'clear'
    assert made['steps']['count'] == 12


def test_hosts_without_collectives_are_not_compared(tmp_path):
    """No collective aligns their clocks: which host is late is not evaluated."""
    made = check(files.write(two_hosts(40 * MS, False), 'xspace', tmp_path))
    finding, = [f for f in made['findings'] if f['id'] == 'F16']
    assert finding['status'] == 'not_evaluated' and finding['missing']
    assert made['balance']['straggler'] is None


def test_order_of_files_does_not_matter(tmp_path):
    """Two hosts under names that sort the other way round: the same devices and findings by host."""
    made = []
    for names in (('host-a', 'host-b'), ('zz', 'aa')):
        scene = two_hosts(40 * MS, True)
        for host, name in zip(scene.hosts, names):
            host.name = name
        made.append(check(files.write(scene, 'xspace', tmp_path / names[0])))
    rows = [[{**d, 'host': None} for d in m['devices']] for m in made]
    assert rows[0] == rows[1][::-1]
    found = [[(f['id'], f['status'], f['severity'], f['impact']) for f in m['findings']] for m in made]
    assert found[0] == found[1]
    assert made[0]['steps']['list'][3]['dur_ps'] == made[1]['steps']['list'][3]['dur_ps']


def test_order_of_events_in_a_file_does_not_matter(tmp_path):
    loop = GpuLoop(Scene(5))
    for n in range(6):
        with loop.step(n):
            kernels(loop, 300 * US)
            loop.copy('h2d', 50 * US)
            loop.drain()
    made = []
    for i in range(3):
        data = json.loads(kineto.encode(loop.host))
        loop.scene.random.shuffle(data['traceEvents']) if i else None
        path = tmp_path / str(i) / 'w.pt.trace.json'
        path.parent.mkdir()
        path.write_text(json.dumps(data))
        made.append({k: v for k, v in check(path).items() if k != 'session'})
    assert made[0] == made[1] == made[2]


# ---- many ----------------------------------------------------------------------------------------


def many(tmp_path, n):
    path = tmp_path / f'{n}.xplane.pb'
    subprocess.run([sys.executable, ROOT / 'tests' / 'gen' / 'many.py', str(n), path], check=True)
    return str(path)


def annotated(tmp_path, n):
    """n annotations of distinct names; every tenth is around an operator and the launch of a kernel."""
    path = tmp_path / f'{n}.pt.trace.json'
    with open(path, 'w', encoding='utf-8') as out:
        out.write('{"traceEvents":[\n')
        for i in range(n):
            out.write('{"ph":"X","cat":"user_annotation","name":"request %d","pid":9,"tid":5,"ts":%d,"dur":90},\n' % (i, 100 * i))
            if i % 10 == 0:
                events = [x('aten::mm', 100 * i + 1, 80, 5, 'cpu_op', 9), *launched(100 * i + 10, 9, i + 1)]
                out.write(',\n'.join(map(json.dumps, events)) + ',\n')
        out.write('{"ph":"M","name":"process_name","pid":9,"args":{"name":"python"}}]}\n')
    return str(path)


def resources(path):
    """The report's text with the CPU seconds and the peak bytes that it took."""
    with tempfile.TemporaryFile() as out:
        used = run_used([PROGRAM, 'report', '--format=json', path], out)
        assert used.code == 0
        out.seek(0)
        return out.read().decode(), used.cpu_s, used.peak


def test_damaged_gzip_is_the_same_for_any_jobs(tmp_path):
    """A real file without 70,000 of its bytes: ISA-L counts some that it never wrote where it finds out. What the
    memory held before was shown as events, other ones for other numbers of threads."""
    raw = trace('pytorch_cuda/facebookresearch__HolisticTraceAnalysis/df_index_resolver/'
                'df_index_resolver.json.gz').read_bytes()
    bad = tmp_path / 'bad.json.gz'
    bad.write_bytes(raw[:542_492] + raw[612_492:])
    shown = {view_profile('top', '--format=json', f'--jobs={jobs}', str(bad)).stdout for jobs in (1, 2, 3, 8)}
    assert len(shown) == 1


@pytest.mark.skipif('VP_SLOW' not in os.environ, reason='SKIP: ten million events take a minute: set VP_SLOW=1, and '
                                                        'VIEW_PROFILE to a release build')
def test_ten_million_events_of_one_name(tmp_path):
    """And a million calls: time and memory grow with events only, by 60 bytes and 1 µs each."""
    text, seconds, peak = resources(many(tmp_path, 10**7))
    assert identities.strict(text)['ops'][0]['calls'] == 10**7
    assert seconds < 11
    assert (peak - resources(many(tmp_path, 1000))[2]) / 1.1e7 <= 60


@pytest.mark.skipif('VP_SLOW' not in os.environ, reason='SKIP: ten million annotations take minutes: set VP_SLOW=1, and '
                                                        'VIEW_PROFILE to a release build')
def test_ten_million_distinct_annotations(tmp_path):
    """Above the limit of distinct names the file is refused, and below it costs time and memory by event."""
    with tempfile.TemporaryFile() as out:
        used = run_used([PROGRAM, 'report', '--format=json', annotated(tmp_path, 10**7)], out)
    assert used.code in (0, 5) and used.cpu_s < 200


@pytest.mark.slow
def test_many_distinct_annotations(tmp_path):
    """16 times the annotations in less than 64 times the CPU time, and in less than 32 times the memory."""
    taken = []
    for n in (640, 10_000):
        text, seconds, peak = resources(annotated(tmp_path, n))
        made = json.loads(text)
        assert sum(o['calls'] for o in made['ops']) == n // 10
        taken.append((seconds, peak))
    assert taken[1][0] < 64 * max(taken[0][0], 0.02) and taken[1][1] < 32 * taken[0][1]


def test_many_events_of_one_name(tmp_path):
    """A hundred thousand, so that a quadratic step would be seen: 16 times the events in less than 64 times
    the CPU time."""
    taken = []
    for n in (6250, 100_000):
        text, seconds, _ = resources(many(tmp_path, n))
        taken.append(seconds)
        assert identities.strict(text)['ops'][0]['calls'] == n
    assert taken[1] < 64 * max(taken[0], 0.02)
