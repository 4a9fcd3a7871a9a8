"""A scene's host as PyTorch's Kineto writes it: Chrome Trace Events in µs."""
import json

NAMES = {'h2d': 'Memcpy HtoD', 'd2h': 'Memcpy DtoH', 'd2d': 'Memcpy DtoD'}
CATS = {'kernel': 'kernel', 'h2d': 'gpu_memcpy', 'd2h': 'gpu_memcpy', 'd2d': 'gpu_memcpy', 'memset': 'gpu_memset'}
BASE_US = 1_700_000_000_000_000  # some producers count from the epoch


class Us:
    """Picoseconds, written as the µs of a trace with all their digits."""

    def __init__(self, ps):
        self.text = f'{ps // 10**6}.{ps % 10**6:06d}'.rstrip('0').rstrip('.')


def _dump(value):
    """json.dumps that knows Us."""
    if isinstance(value, Us):
        return value.text
    if isinstance(value, dict):
        return '{' + ', '.join(f'{json.dumps(k)}: {_dump(v)}' for k, v in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ',\n'.join(_dump(v) for v in value) + ']'
    return json.dumps(value)


def _name(op):
    if op.what in NAMES:
        return f'{NAMES[op.what]} ({op.memory[0]} -> {op.memory[1]})'
    return 'Memset (Device)' if op.what == 'memset' else op.name


def _op(device, o):
    args = {'device': device.ordinal, 'context': 1, 'stream': o.stream, 'correlation': o.correlation,
            'External id': o.correlation}
    if not o.correlation:
        del args['correlation'], args['External id']
    if o.bytes:
        args['bytes'] = o.bytes
    return {'ph': 'X', 'cat': CATS[o.what], 'name': _name(o), 'pid': device.ordinal, 'tid': o.stream,
            'ts': Us(o.start + BASE_US * 10**6), 'dur': Us(o.dur), 'args': args | o.stats}


def _host(thread, e):
    args = {'correlation': v for k, v in e.stats.items() if k == 'correlation_id'} | \
           {k: v for k, v in e.stats.items() if k != 'correlation_id'}
    return {'ph': 'X', 'cat': e.cat, 'name': e.name, 'pid': 4242, 'tid': thread.id,
            'ts': Us(e.start + BASE_US * 10**6), 'dur': Us(e.dur), 'args': args}


def events(host):
    out = [{'ph': 'M', 'name': 'process_name', 'pid': 4242, 'tid': 0, 'args': {'name': 'python'}}]
    for d in host.devices:
        out.append({'ph': 'M', 'name': 'process_labels', 'pid': d.ordinal, 'tid': 0,
                    'args': {'labels': f'GPU {d.ordinal}'}})
    for t in host.threads:
        out.append({'ph': 'M', 'name': 'thread_name', 'pid': 4242, 'tid': t.id,
                    'args': {'name': f'thread {t.id} ({t.name})'}})
        out += [_host(t, e) for e in t.events]
    for d in host.devices:
        out += [_op(d, o) for o in d.ops]
    return out


def encode(host, **top):
    properties = [{'id': d.ordinal, 'name': 'Made GPU', 'totalGlobalMem': 80 * 2**30} for d in host.devices]
    whole = {'schemaVersion': 1, 'deviceProperties': properties, 'displayTimeUnit': 'ms'} | top | \
            {'traceEvents': events(host)}
    return _dump(whole).encode('utf-8')
