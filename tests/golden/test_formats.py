"""What every report must satisfy, whatever the file: sums that close, shares with their
denominator, one set of figures in four formats, the keys of docs/reference/json.md#report. Held on
files and runs of every kind."""
import csv
import html
import io
import json
import os
import re
import unicodedata

import pytest

from common import report, trace, view_profile

REACTANT = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/2025_02_05_11_05_24'
FILES = [  # each of another kind or writer
    'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb',
    'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_11_21_26_41',
    'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb',
    'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
    REACTANT,
    REACTANT + '/cyclops.trace.json.gz',
    'xla_cpu_julia/EnzymeAD__Reactant.jl/gh-pages_v0.2.105/tutorials',
    'tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb',
    'tf_cpu/Alwaysproblem__tensorboard-review/log/train/plugins/profile/2020_05_16_03_41_16',
    'jax_cpu/mnist_train',
    'jax_cpu/multi_device',
    'jax_cpu/three_runs',
    'jax_cpu/odd_names',
    'jax_cpu/empty_window',
    'pytorch_cuda/AMD-AGI__TraceLens/h100/Falconsai_nsfw_image_detection__1016002.json.gz',
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/critical_path/cuda_event_sync/event_sync_trace.json.gz',
    'pytorch_cuda/facebookresearch__HolisticTraceAnalysis/mixed_files/rank_non_gpu.json.gz',
    'pytorch_cuda/facebookresearch__param/dlrm_kineto/worker3_step_12.1694128201557.pt.trace.json',
    'pytorch_rocm/facebookresearch__HolisticTraceAnalysis/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz',
    'pytorch_mtia/facebookresearch__HolisticTraceAnalysis/mtia_inference_trace/mtia_inference_rank_0.json.gz',
    'pytorch_synthetic/mpashkovskiy__pytorch-trace-tui/test_trace.json',
    'bazel/EngFlow__bazel_invocation_analyzer/profiles/tiny.json.gz',
    'clang_ftime/aras-p__ClangBuildAnalyzer/libreoffice-skiahelper-clang-11-dev/SkiaHelper.json',
    'viztracer/gaogaotiantian__viztracer/example/json/multithread.json',
    'dart/flutter__devtools/packages/devtools_testing/lib/support/http_request_timeline_test_data.json',
    'chrome_odd/catapult-project__catapult/nestable_async.json',
    'chrome_odd/jlfwong__speedscope/trace-event/simple-partial-trailing-comma.json',
    'chrome_odd/jlfwong__speedscope/trace-event/unbalanced-name.json',
    'ascend/mindspore-ai__mindinsight/utils/resource/run_1/normal_run/profiler/timeline_display_1.json',
    'archives_made/tpu_inference_2runs.tar.zst',
    'archives_made/tb_review_logs.zip',
]
GROUPS = ['name', 'raw', 'category', 'scope', 'source', 'module']
every_file = pytest.mark.parametrize('path', FILES)


def grouped(path, group):
    return report(path, f'--group={group}')


def key(row):
    return row['device'], row['host']


def ops_of(made, device):
    return [o for o in made['ops'] if key(o) == (device['name'], device['host'])]


@every_file
def test_breakdown_sums(path):
    for d in grouped(path, 'raw')['devices']:
        b = d['breakdown']
        assert b['compute_ps'] + b['exposed_comm_ps'] + b['exposed_copy_ps'] + b['idle_ps'] == b['window_ps']
        assert b['busy_ps'] + b['idle_ps'] == b['window_ps'] == d['window']['end_ps'] - d['window']['start_ps']
        assert b['exposed_comm_ps'] + b['overlap_comm_ps'] == b['comm_ps']
        assert 0 <= b['exposed_copy_ps'] <= b['copy_ps']
        assert max(b['compute_ps'], b['comm_ps'], b['copy_ps']) <= b['busy_ps']
        assert min(b.values()) >= 0


@every_file
def test_devices_lie_in_the_window(path):
    made = grouped(path, 'raw')
    if made['devices']:
        assert made['window']['start_ps'] == min(d['window']['start_ps'] for d in made['devices'])
        assert made['window']['end_ps'] == max(d['window']['end_ps'] for d in made['devices'])


@every_file
def test_self_time_closes(path):
    """Σ self of a device's ops is the denominator of their shares, and covers its busy time. Tracks run at
    once, so one op's self time may exceed the window, of which it is no share then; on a CPU device there
    is one timeline."""
    made = grouped(path, 'raw')
    for d in made['devices']:
        ops, b = ops_of(made, d), d['breakdown']
        whole = sum(o['self_ps'] for o in ops)
        assert sum(o['calls'] for o in ops) == d['events']
        assert whole >= b['busy_ps'] and (d['kind'] != 'cpu' or whole == b['busy_ps'])
        running = 0
        for o in ops:
            running += o['self_ps']
            for share, part, of in (('self_share_of_ops', o['self_ps'], whole),
                                    ('cumulative_share', running, whole),
                                    ('self_share_of_window', o['self_ps'], b['window_ps'])):
                if share == 'self_share_of_window' and part > of:
                    assert o[share] is None
                elif of:
                    assert abs(o[share] - part / of) <= 1e-8
                else:
                    assert o[share] is None or o[share] == 0
        if whole:
            assert abs(ops[-1]['cumulative_share'] - 1) < 1e-9


@every_file
def test_scopes_close(path):
    """The tree of scopes holds the self time of all ops once, and each total is its subtree's self."""
    def walk(s):
        below = [walk(c) for c in s['children']]
        assert s['total_ps'] == s['self_ps'] + sum(below)
        assert s['path'] == s['name'] or s['path'].endswith('/' + s['name'])
        return s['total_ps']

    made = grouped(path, 'raw')
    if made['scopes']:
        assert sum(walk(s) for s in made['scopes']) == sum(o['self_ps'] for o in made['ops'])
        assert sum(s['calls'] for s in made['scopes']) == sum(o['calls'] for o in made['ops'])


@every_file
def test_groupings_hold_the_same_time(path):
    def sums(group):
        made = grouped(path, group)
        return {(d['name'], d['host']): [sum(o[f] for o in ops_of(made, d)) for f in ('self_ps', 'calls')]
                for d in made['devices']}

    want = sums('raw')
    for group in GROUPS:
        assert sums(group) == want, group
        rows = [(key(o), o['class'], o['category'], o['name'], str(o['launch'])) for o in grouped(path, group)['ops']]
        assert len(set(rows)) == len(rows), group


@every_file
def test_statistics_are_in_order(path):
    for group in ('raw', 'category'):
        for o in grouped(path, group)['ops']:
            assert 0 <= o['min_ps'] <= o['p50_ps'] <= o['p95_ps'] <= o['max_ps'] == o['slowest']['dur_ps']
            assert o['total_ps'] <= o['calls'] * o['max_ps'] and o['calls'] >= 1
            assert o['mean_ps'] <= o['max_ps'] and o['stddev_ps'] <= o['max_ps']
            assert o['calls'] > 1 or (o['min_ps'] == o['max_ps'] and o['stddev_ps'] == 0)
            assert 1 <= o['raw_names'] <= o['calls']
            assert group != 'raw' or o['raw_names'] == 1


def test_order_of_rows():
    """Descending by what is asked for; --top takes that many of each device."""
    path = FILES[0]
    for by in ('self', 'total', 'calls', 'max'):
        whole = report(path, '--group=raw', f'--by={by}')
        for d in whole['devices']:
            figures = [o[by if by == 'calls' else f'{by}_ps'] for o in ops_of(whole, d)]
            assert figures == sorted(figures, reverse=True)
        three = report(path, '--group=raw', f'--by={by}', '--top=3')
        for d in three['devices']:
            assert [o['name'] for o in ops_of(three, d)] == [o['name'] for o in ops_of(whole, d)[:3]]


# ---- one set of figures in four formats --------------------------------------------------------


def defused(text):
    """As a text cell of the CSV shows it: no formula."""
    return "'" + text if text and text[0] in '=+-@\t\r' else text or ''


def printable(text):
    return not text or all(unicodedata.category(c)[0] != 'C' for c in text)


@every_file
def test_csv_is_the_json(path):
    out = view_profile('report', '--format=csv', '--group=raw', str(trace(path))).stdout
    rows, ops = list(csv.DictReader(io.StringIO(out))), grouped(path, 'raw')['ops']
    assert len(rows) == len(ops)
    numbers = ['calls', 'total_ps', 'self_ps', 'mean_ps', 'min_ps', 'p50_ps', 'p95_ps', 'max_ps', 'stddev_ps',
               'bytes', 'flops', 'raw_names']
    for row, op in zip(rows, ops, strict=True):
        assert [row[n] for n in numbers] == ['' if op[n] is None else str(op[n]) for n in numbers]
        assert [row['slowest_start_ps'], row['slowest_dur_ps']] == [str(v) for v in op['slowest'].values()]
        for text in ('device', 'host', 'class', 'category', 'name', 'scope', 'source', 'module'):
            assert row[text] == defused(op[text]) or not printable(op[text])
        for share in ('self_share_of_ops', 'self_share_of_window', 'cumulative_share', 'gb_per_s', 'gflop_per_s'):
            if op[share] is None:
                assert row[share] == ''
            else:
                assert abs(float(row[share]) - op[share]) <= 1e-9 + 1e-6 * op[share]


@every_file
def test_html_has_the_top_rows(path):
    page = view_profile('report', '--format=html', str(trace(path))).stdout
    assert page.startswith('<!doctype html>') and page.rstrip().endswith('</html>')
    assert '<script' not in page.lower() and 'javascript:' not in page.lower()
    assert not re.search(r'\b(?:src|href|action)=["\']?(?:https?:)?//', page)
    assert not re.search(r'\bon[a-z]+=', re.sub(r'"[^"]*"', '""', page))
    said = html.unescape(page)
    made = grouped(path, 'name')
    for d in made['devices'][:1]:
        for o in ops_of(made, d)[:20]:
            if o['self_share_of_ops'] and o['self_share_of_ops'] > 0.006 and printable(o['name']):
                assert o['name'] in said


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in line)


@every_file
@pytest.mark.parametrize('command', ['top', 'report'])
def test_text_fits_80_columns(path, command):
    out = view_profile(command, str(trace(path)), env={**os.environ, 'COLUMNS': '80'}).stdout
    assert out.endswith('\n') and '\t' not in out and '\x1b' not in out
    assert [line for line in out.splitlines() if width(line) > 80] == []
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


@every_file
def test_top_in_json_is_the_report(path):
    top = json.loads(view_profile('top', '--format=json', '--group=raw', '--top=5', str(trace(path))).stdout)
    full = report(path, '--group=raw', '--top=5')
    assert top.pop('analysis') | {'depth': 'full'} == full.pop('analysis') | {'depth': 'full'}
    for made in (top, full):
        for later in ('complete', 'findings', 'quality', 'modules', 'folded_scopes'):  # know more with host events
            del made[later]
    if not top['scopes']:  # those of PyTorch's kernels come from launches, which `top` does not read
        del top['scopes'], full['scopes']
    agrees(top, full)


def agrees(top, full):
    """`top` leaves open what only the whole profile tells; the rest is the same."""
    if isinstance(top, dict):
        assert list(top) == list(full)
        for k in top:
            agrees(top[k], full[k])
    elif isinstance(top, list):
        assert len(top) == len(full)
        for a, b in zip(top, full, strict=True):
            agrees(a, b)
    else:
        assert top is None or top == full


# ---- docs/reference/json.md#report -------------------------------------------------------------

DURATIONS = ('window_ps compute_ps exposed_comm_ps exposed_copy_ps idle_ps busy_ps comm_ps copy_ps '
             'overlap_comm_ps')
KEYS = {  # in the order of docs/reference/json.md#report; other keys may come between them
    '': 'schema tool session window devices ops scopes modules steps gaps collectives transfers compile '
        'balance launch host_ops memory quality findings',
    'tool': 'name version',
    'session': 'id name path kind captured_unix_ns base_unix_ns hosts files',
    'session.files': 'path kind bytes events partial',
    'window': 'policy clock start_ps end_ps',
    'devices': 'name host kind events window breakdown',
    'devices.window': 'start_ps end_ps',
    'devices.breakdown': DURATIONS,
    'ops': 'device class category name calls total_ps self_ps mean_ps min_ps p50_ps p95_ps max_ps stddev_ps '
           'self_share_of_ops self_share_of_window cumulative_share per_step_ps bytes flops gb_per_s gflop_per_s '
           'scope source module raw_names slowest',
    'ops.launch': 'grid block registers shared_bytes occupancy tensor_cores',
    'ops.slowest': 'start_ps dur_ps',
    'scopes': 'path self_ps total_ps calls children',
    'modules': 'name program_id runs total_ps p50_ps',
    'steps': 'source count list median_ps mad_ps cv',
    'steps.list': 'number name start_ps dur_ps device breakdown devices partial',
    'steps.list.breakdown': DURATIONS,
    'steps.list.devices': 'name host start_ps dur_ps breakdown',
    'steps.list.devices.breakdown': DURATIONS,
    'gaps': 'device start_ps dur_ps host_late_ps in_call_ps latency_ps label thread',
    'transfers': 'direction count bytes busy_ps exposed_ps gb_per_s pageable',
    'compile': 'count total_ps late recompiled',
    'compile.recompiled': 'function compiles calls',
    'quality': 'code severity message file event byte',
    'findings': 'id severity title message evidence where impact suggestion caveats',
}
WORDS = {'policy': {'device', 'capture', 'steps', 'asked'}, 'clock': {'device', 'aligned'},
         'class': {'compute', 'communication', 'copy', 'normal', 'heavy', 'light'},
         'severity': {'info', 'warning', 'error', 'low', 'medium', 'high', None},
         'direction': {'h2d', 'd2h', 'd2d', 'p2p', 'infeed', 'outfeed', 'memset', 'other'}}
MAY_BE_NEGATIVE = {'start_ps', 'end_ps', 'timeline_ns', 'value', 'threshold'}  # times, relative to the base


def check_keys(value, where):
    if isinstance(value, list):
        for v in value:
            check_keys(v, where)
    elif isinstance(value, dict):
        want = KEYS.get(where, '').split()
        assert [k for k in value if k in want] == want, where
        for k, v in value.items():
            deeper = where if k == 'children' else f'{where}.{k}'.lstrip('.')
            check_keys(v, deeper)
            if k in WORDS:
                assert v in WORDS[k]
            if isinstance(v, (int, float)) and not isinstance(v, bool) and not k.endswith('start_ps') \
                    and k not in MAY_BE_NEGATIVE:
                assert v >= 0, (where, k)  # unknown is null
            if k.endswith(('_ps', '_ns')) or k in ('calls', 'bytes', 'flops', 'events', 'program_id', 'runs'):
                assert v is None or type(v) in (int, list), (where, k)
            if k in ('self_share_of_ops', 'cumulative_share'):
                assert v is None or 0 <= v <= 1


@every_file
def test_keys_and_types(path):
    made = grouped(path, 'name')
    assert made['schema'] == 'view_profile.report/1' and made['tool']['name'] == 'view_profile'
    check_keys(made, '')


@every_file
def test_unknown_is_null(path):
    made = grouped(path, 'name')
    counted = made['steps']['counted']
    assert (made['steps']['median_ps'] is None) == (not counted)
    assert all(o['per_step_ps'] is None for o in made['ops'] if not counted)
    for o in made['ops']:
        half = o['name'].endswith(('-start', '-done')) or (o['category'] or '').endswith(('-start', '-done'))
        assert (o['gb_per_s'] is None) == (o['bytes'] is None or not o['total_ps'] or half)
        assert (o['gflop_per_s'] is None) == (o['flops'] is None or not o['total_ps'] or half)
    assert made['session']['hosts'] and made['session']['files']


def test_files_are_of_every_kind():
    assert len(FILES) >= 25
    kinds = {f['kind'] for p in FILES for f in grouped(p, 'raw')['session']['files']}
    assert kinds >= {'xplane', 'trace.json', 'kineto', 'chrome'}
    devices = {d['kind'] for p in FILES for d in grouped(p, 'raw')['devices']}
    assert devices == {'tpu', 'gpu', 'cpu', 'other'}


# ---- When it was captured ------------------------------------------------------------------------

V2 = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
DLRM = 'pytorch_cuda/facebookresearch__param/dlrm_kineto'
DLRM_MS = 1694128201545  # of worker0, the first; in the files' names


def test_a_single_file_was_captured_when_the_profile_says():
    """A file of no telling name is as old as its profile, not as its copy on this disk."""
    session = report(V2)['session']
    assert session['captured_unix_ns'] == session['base_unix_ns'] == 1741722099000000000 + session['base_unix_ns'] % 10**9
    assert os.stat(trace(V2)).st_mtime_ns != session['captured_unix_ns']


@pytest.mark.parametrize('path', [DLRM, f'{DLRM}/worker0_step_12.{DLRM_MS}.pt.trace.json'])
def test_a_rank_was_captured_with_its_run(path):
    assert report(path)['session']['captured_unix_ns'] == DLRM_MS * 10**6


# ---- What is unknown is not 0, and a share is a part ---------------------------------------------

TPU_RUN = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/2026_01_11_21_26_41'


def test_costs_that_xla_cannot_know():
    """A Pallas kernel is a custom call with bytes_accessed and model_flops of 0."""
    ops = report(TPU_RUN)['ops']
    calls = [o for o in ops if o['category'] == 'custom-call' and o['name'].startswith('RPA')]
    assert calls
    for o in calls:
        assert o['bytes'] is o['flops'] is o['gb_per_s'] is o['gflop_per_s'] is None, o
    assert any(o['category'] == 'data formatting' and o['flops'] == 0 for o in ops)


def test_halves_of_async_ops_have_no_rate():
    ops = report(TPU_RUN)['ops']
    halves = [o for o in ops if o['name'].endswith(('-start', '-done'))]
    assert {'copy-start', 'copy-done'} <= {o['name'] for o in halves}
    for o in halves:
        assert o['gb_per_s'] is o['gflop_per_s'] is None, o
    assert max(o['gb_per_s'] or 0 for o in ops) < 100_000


@every_file
def test_shares_of_the_window_are_parts_of_it(path):
    for o in report(path)['ops']:
        window = report(path)['devices'][o['device_index']]['breakdown']['window_ps']
        share = o['self_share_of_window']
        assert share is None if o['self_ps'] > window else 0 <= share <= 1, o
