"""A scene's host with TPU chips as the trace.json.gz that XLA writes beside the XSpace (xspace.py): the
names that are shown, times in µs to the picosecond, event and metadata stats as texts in one `args`. It
lacks what XLA leaves out: when the profile began and ended, program and symbol ids of ops, warnings.
An event of no length lasts 1 ps."""
import gzip
import json

from .xspace import _meta, shift

HOST, FIRST_DEVICE = 701, 3
LEFT_OUT = {'program_id', 'symbol_id'}
LINES = {'Steps': 1, 'XLA Modules': 2, 'XLA Ops': 3, 'Async XLA Ops': 4}


def _us(ps):
    return float(f'{ps // 10**6}.{ps % 10**6:06}')


def _name(pid, what, name, **more):
    return {'ph': 'M', 'pid': pid, **more, 'name': what, 'args': {'name': name}}


def _event(host, pid, tid, name, start, dur, args):
    made = {'ph': 'X', 'pid': pid, 'tid': tid, 'ts': _us(start + shift(host)), 'dur': _us(max(dur, 1)), 'name': name}
    return made | ({'args': {k: str(v) for k, v in args.items()}} if args else {})


def _op(host, pid, tid, device, o, own_clock):
    args = {k: v for k, v in _meta(o) if k not in LEFT_OUT} | o.stats
    if o.text:
        args['long_name'] = o.text
    if own_clock:
        args |= {'device_offset_ps': o.start, 'device_duration_ps': o.dur}
    start = device.to_host(o.start)
    return _event(host, pid, tid, o.name, start, device.to_host(o.end) - start, args)


def _tpu(host, pid, device):
    lines = {'Steps': [(e.name, e.start, e.dur, e.stats) for e in device.steps],
             'XLA Modules': [(e.name, e.start, e.dur, e.stats) for e in device.modules],
             'XLA Ops': device.ops, 'Async XLA Ops': device.async_ops}
    yield _name(pid, 'process_name', device.name)
    for name, events in lines.items():
        if not events:
            continue
        tid = LINES[name]
        yield _name(pid, 'thread_name', name, tid=tid)
        if name.endswith('Ops'):
            for o in sorted(events, key=lambda o: (o.start, -o.dur)):
                yield _op(host, pid, tid, device, o, name == 'XLA Ops')
        else:
            for e in events:
                yield _event(host, pid, tid, *e)


def encode(host):
    events = []
    for i, d in enumerate(host.devices):
        assert d.kind == 'tpu', 'chips alone'
        events += _tpu(host, FIRST_DEVICE + i, d)
    events.append(_name(HOST, 'process_name', '/host:CPU'))
    for t in host.threads:
        events.append(_name(HOST, 'thread_name', t.name, tid=t.id))
        events += [_event(host, HOST, t.id, e.name, e.start, e.dur, e.stats)
                   for e in sorted(t.events, key=lambda e: (e.start, -e.dur))]
    made = {'displayTimeUnit': 'ns', 'metadata': {'highres-ticks': True}, 'traceEvents': [*events, {}]}
    return gzip.compress(json.dumps(made).encode(), mtime=0)
