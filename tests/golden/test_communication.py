"""Transfers, collectives and stragglers of real Kineto captures, computed again from the JSON.

Slow and simple on purpose: intervals as sorted lists, one device at a time, no shared code with the product."""
import bisect
import gzip
import json
import re
import tarfile
from collections import Counter, defaultdict
from decimal import Decimal
from statistics import median_low

import pytest

from common import report, trace, view_profile

HTA = 'pytorch_cuda/facebookresearch__HolisticTraceAnalysis'
FILES = [f'{HTA}/trace_diff/test/test.json.gz',
         'pytorch_rocm/facebookresearch__HolisticTraceAnalysis/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz',
         'pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz',
         'pytorch_rocm/AMD-AGI__TraceLens/inference/sglang_prefilldecode/sglang_Qwen3-8B_prefilldecode.json.gz',
         'pytorch_rocm/AMD-AGI__TraceLens/mi300/ddp_resnet18_no_pool/train_resnet18.json.gz']
DLRM = 'archives/facebookresearch__param/dlrm_kineto.tar.gz'
COPIES = ('gpu_memcpy', 'gpu_memset', 'memcpy', 'memset')


def ps(text):
    return int(Decimal(str(text)) * 10**6)


def device_ops(data):
    """device → [(start, end, class, name, bytes)]; class: compute, comm, copy"""
    out = defaultdict(list)
    for e in json.loads(data, parse_float=str, strict=False)['traceEvents']:
        cat, args = str(e.get('cat', '')).lower(), e.get('args') or {}
        if e.get('ph') != 'X' or cat not in COPIES + ('kernel',):
            continue
        name = e['name']
        kind = 'copy' if cat in COPIES or re.match('memcpy|memset|__amd_rocclr_(copy|fill)', name, re.I) else \
            'comm' if re.search('nccl|rccl', name, re.I) else 'compute'
        start = ps(e['ts'])
        size = args.get('bytes', args.get('Bytes'))
        out[args.get('device', e['pid'])].append((start, start + ps(e.get('dur', 0)), kind, name,
                                                  None if size is None else int(size)))
    return out


def union(spans):
    out = []
    for a, b in sorted(s for s in spans if s[1] > s[0]):
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out


def length(spans):
    return sum(b - a for a, b in spans)


def minus(a, b):
    """|A \\ B| of two unions, by the rule |A ∪ B| − |B|"""
    return length(union(a + b)) - length(b)


def covered(span, spans):
    """Whether one of a union's holds all of it."""
    at = bisect.bisect_right(spans, span[0], key=lambda s: s[0]) - 1
    return span[0] == span[1] or at >= 0 and span[1] <= spans[at][1]


def direction(name):
    for word, way in (('Memset', 'memset'), ('fillBuffer', 'memset'), ('HtoD', 'h2d'), ('DtoH', 'd2h'), ('DtoD', 'd2d'),
                      ('PtoP', 'p2p')):
        if word in name:
            return way
    return 'other'


@pytest.fixture(scope='module', params=FILES)
def capture(request):
    return report(request.param), device_ops(gzip.open(trace(request.param)).read())


def test_transfers_by_direction(capture):
    made, devices = capture
    for device, ops in devices.items():
        others = union([o[:2] for o in ops if o[2] != 'copy'])
        want = defaultdict(list)
        for o in ops:
            if o[2] == 'copy':
                want[direction(o[3])].append(o)
        rows = {r['direction']: r for r in made['transfers'] if r['device'] == f'GPU {device}'}
        assert set(rows) == set(want)
        for way, copies in want.items():
            row, spans = rows[way], union([c[:2] for c in copies])
            assert row['count'] == len(copies)
            assert row['total_ps'] == sum(c[1] - c[0] for c in copies)
            assert row['busy_ps'] == length(spans)
            assert row['exposed_ps'] == minus(spans, others)
            assert row['exposed_count'] == sum(not covered(c[:2], others) for c in copies)
            sizes = [c[4] for c in copies]
            assert row['bytes'] == (None if None in sizes else sum(sizes))
            if row['pageable'] is not None:
                assert row['pageable'] == sum('Pageable' in c[3] for c in copies)


def test_collectives_by_kernel(capture):
    made, devices = capture
    for device, ops in devices.items():
        compute = union([o[:2] for o in ops if o[2] == 'compute'])
        want = defaultdict(list)
        for o in ops:
            if o[2] == 'comm':
                want[o[3].split('(')[0]].append(o[:2])
        rows = [r for r in made['collectives'] if r['device'] == f'GPU {device}']
        assert Counter(r['count'] for r in rows) == Counter(map(len, want.values()))
        for name, calls in want.items():
            row = next(r for r in rows if r['name'] == name)
            assert row['total_ps'] == sum(b - a for a, b in calls)
            assert row['union_ps'] == length(union(calls))
            assert row['exposed_ps'] == minus(union(calls), compute)


def stragglers(ranks):
    """name → rank → [(start, end)]; clocks aligned to the first rank by the median distance of ends of the name with
    the most calls. → waits by rank, who came last by call"""
    names = sorted(ranks[0], key=lambda n: (-len(ranks[0][n]), n))
    ahead = [median_low([a[1] - b[1] for a, b in zip(ranks[0][names[0]], r[names[0]])]) for r in ranks]
    waits, last, total = Counter(), Counter(), 0
    for name in names:
        for calls in zip(*(r[name] for r in ranks)):
            starts = [c[0] + ahead[i] for i, c in enumerate(calls)]
            ends = [c[1] + ahead[i] for i, c in enumerate(calls)]
            assert max(starts) <= min(ends), 'calls of one collective overlap'
            last[starts.index(max(starts))] += 1
            total += max(starts) - min(starts)
            for i, start in enumerate(starts):
                waits[i] += max(starts) - start
    return waits, last, total


def test_dlrm_waits_for_its_last_rank():
    ranks = {}
    with tarfile.open(trace(DLRM)) as archive:
        for member in archive.getmembers():
            if member.isfile():
                (device, ops), = device_ops(archive.extractfile(member).read()).items()
                calls = defaultdict(list)
                for o in sorted(ops):
                    if o[2] == 'comm':
                        calls[o[3].split('(')[0]].append(o[:2])
                ranks[device] = calls
    assert sorted(ranks) == list(range(8))
    waits, last, total = stragglers([ranks[i] for i in range(8)])
    made = json.loads(view_profile('report', '--format=json', str(trace(DLRM))).stdout)
    balance = made['balance']
    assert balance['aligned'] is True
    assert balance['matched'] == 8
    assert balance['wait_ps'] == total
    (worst, times), = last.most_common(1)
    assert balance['straggler']['device'] == f'GPU {worst}'
    assert balance['straggler_last'] == balance['straggler_host_last'] == times
    assert balance['straggler_host'] == f'worker{worst}_step_12'
    ours = Counter()
    for row in made['collectives']:
        ours[int(row['device'].split()[1])] += row['wait_ps']
    assert ours == waits
    compute = [d['breakdown']['compute_ps'] for d in made['devices']]
    assert balance['max_ps'] == max(compute) and balance['min_ps'] == min(compute)
    assert balance['mean_ps'] == sum(compute) // 8


def test_tpu_cores_wait_at_barriers():
    """A8's golden row: 24.6, 54.5, 341.0 and 44.8 ms in "barrier-cores" of the line XLA TraceMe of TPU:0 to 3, three times each
    (here to the picosecond, from the file's protobuf); TPU:2 waits longest."""
    run = 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb'
    devices = report(run)['devices']
    assert [d['barriers'] for d in devices] == [3, 3, 3, 3]
    assert [d['barrier_ps'] for d in devices] == [24609268828, 54525450078, 340985602188, 44793480000]
    text = view_profile('report', str(trace(run))).stdout
    assert 'TPU:2 waits longest, 340.986 ms' in ' '.join(text.split())
