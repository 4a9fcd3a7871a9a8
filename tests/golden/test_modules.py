"""The module of a TPU op whose event does not say it: the one whose run, on the aligned clock, holds the
op's start (docs/reference/metrics.md#clocks). Recomputed here from the JSON of two vLLM runs, event
by event."""
import bisect
import gzip
import json
from decimal import Decimal

import pytest

from common import report, trace

VLLM = 'jax_tpu/vllm-project__tpu-inference/profiles/plugins/profile/'
RUNS = ['2026_01_11_21_26_41', '2026_01_12_00_26_20']


def events_by_line(path):
    """(process, thread) → its complete events"""
    events = json.loads(gzip.decompress(trace(path).read_bytes()), parse_float=Decimal)['traceEvents']
    process, thread, lines = {}, {}, {}
    for e in events:
        if e.get('name') == 'process_name':
            process[e['pid']] = e['args']['name']
        elif e.get('name') == 'thread_name':
            thread[e['pid'], e['tid']] = e['args']['name']
    for e in events:
        if e.get('ph') == 'X':
            line = process.get(e['pid']), thread.get((e['pid'], e['tid']))
            lines.setdefault(line, []).append(e)
    return lines


def by_interval(path):
    """(device, module) → (Σ ps on the device's clock, ops)"""
    lines, out = events_by_line(path), {}
    for (device, line), ops in lines.items():
        if line != 'XLA Ops':
            continue
        runs = sorted((e['ts'], e['ts'] + e['dur'], e['name'].split('(')[0]) for e in lines[device, 'XLA Modules'])
        starts = [r[0] for r in runs]
        for e in ops:
            i = bisect.bisect_right(starts, e['ts']) - 1
            name = runs[i][2] if i >= 0 and e['ts'] < runs[i][1] else '(no module)'
            had = out.get((device, name), (0, 0))
            out[device, name] = (had[0] + int(e['args']['device_duration_ps']), had[1] + 1)
    return out


@pytest.mark.parametrize('run', RUNS)
def test_modules_of_json_ops(run):
    path = f'{VLLM}{run}/t1v-n-9eb622fc-w-0.trace.json.gz'
    want = by_interval(path)
    assert len(want) >= 8  # several modules on two chips
    ours = {(o['device'], o['name']): (o['total_ps'], o['calls']) for o in report(path, '--group=module')['ops']}
    assert ours == want
