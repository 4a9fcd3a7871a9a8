"""Operators of device ops, from a Kineto trace alone: by time and correlation id only, independent of the program.

An op belongs to the launch call with its correlation id: the latest that starts at or before the op, else the first one.
The call belongs to the operator that is innermost on its thread when it starts (docs/reference/links.md)."""
import bisect
import gzip
import json
import re
from collections import Counter, defaultdict
from decimal import Decimal

DEVICE_WORK = {'kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset'}
OPERATORS = {'cpu_op', 'operator'}
NONE = '(no operator)'


def events_of(path):
    """The complete events of a trace: (category, event, start, end), times in us as written."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b'\x1f\x8b' else raw).decode('utf-8', 'replace')
    text = re.sub(r'\\(?!["\\/bfnrtu])', r'\\\\', text)
    answer = json.loads(text, strict=False, parse_float=Decimal)
    events = answer['traceEvents'] if isinstance(answer, dict) else answer
    for e in events:
        if isinstance(e, dict) and e.get('ph') == 'X' and 'ts' in e:
            start = Decimal(e['ts'])
            yield str(e.get('cat', '')).lower(), e, start, start + Decimal(e.get('dur', 0))


def is_operator(category, name):
    """The first versions of Kineto gave annotations of steps the category of operators."""
    return category in OPERATORS and '#' not in name


def launches_by_id(events):
    """{correlation id: [(start, innermost operator or None)]}, sorted by start."""
    threads = defaultdict(list)
    for category, e, start, end in events:
        if is_operator(category, e['name']) or category.endswith(('runtime', 'driver')):
            threads[(str(e.get('pid')), str(e.get('tid')))].append((start, -end, category, e))
    launches = defaultdict(list)
    for calls in threads.values():
        calls.sort(key=lambda c: c[:2])
        opened = []
        for start, negative_end, category, e in calls:
            while opened and opened[-1][0] <= start:
                opened.pop()
            if is_operator(category, e['name']):
                opened.append((-negative_end, e['name']))
            elif e.get('args', {}).get('correlation'):
                launches[int(e['args']['correlation'])].append((start, opened[-1][1] if opened else None))
    return {number: sorted(calls, key=lambda c: c[0]) for number, calls in launches.items()}


def shown(name):
    return name.removeprefix('autograd::engine::evaluate_function: ')


def operators(path):
    """({operator: calls}, {operator: duration in us}) of the device ops of a trace."""
    events = list(events_of(path))
    launches = launches_by_id(events)
    calls, durations = Counter(), Counter()
    for category, e, start, end in events:
        if category not in DEVICE_WORK:
            continue
        found = launches.get(int(e.get('args', {}).get('correlation') or 0), [])
        at = max(bisect.bisect_right(found, start, key=lambda c: c[0]) - 1, 0)
        name = found[at][1] if found else None
        calls[shown(name) if name else NONE] += 1
        durations[shown(name) if name else NONE] += end - start
    return calls, durations
