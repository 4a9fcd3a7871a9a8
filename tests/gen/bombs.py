"""Small files that ask for much: each is one kind of thing, very many times. Written piece by
piece, so that making one takes no memory either. bombs.ALL: name → (file name, writer of pieces of bytes)."""
import itertools
import json
import zlib

from . import wire


def pieces(parts, between=b',', head=b'{"traceEvents":[', tail=b']}'):
    yield head
    first = True
    for piece in parts:
        yield piece if first else between + piece
        first = False
    yield tail


def json_pieces(events):
    encode = json.JSONEncoder(separators=(',', ':')).encode  # json.dumps makes one each time
    return pieces(encode(e).encode() for e in events)


def _kernel(i, **more):
    event = {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5,
             'args': {'device': 0, 'stream': 7, 'correlation': i}}
    args = event['args'] | more.pop('args', {})
    return event | more | {'args': args}


def device_processes(n=30_000):
    """As many devices as there are events."""
    for i in range(n):
        yield {'ph': 'M', 'name': 'process_name', 'pid': i, 'args': {'name': f'/device:GPU:{i}'}}
        yield {'ph': 'M', 'name': 'thread_name', 'pid': i, 'tid': 1, 'args': {'name': 'XLA Ops'}}
        yield {'ph': 'X', 'pid': i, 'tid': 1, 'ts': i, 'dur': 1, 'name': 'op', 'args': {'hlo_op': 'op', 'hlo_module': 'm'}}


def devices_and_names(devices=8_000, names=40_000):
    for i in range(devices):
        yield {'ph': 'M', 'name': 'process_name', 'pid': i, 'args': {'name': f'/device:GPU:{i}'}}
        yield {'ph': 'M', 'name': 'thread_name', 'pid': i, 'tid': 1, 'args': {'name': 'XLA Ops'}}
    for i in range(names):
        name = f'op.{i}'
        yield {'ph': 'X', 'pid': i % devices, 'tid': 1, 'ts': i, 'dur': 1, 'name': name,
               'args': {'hlo_op': name, 'hlo_module': 'm'}}


def kineto_devices(n=30_000):
    return (_kernel(i, pid=i, args={'device': i}) for i in range(n))


def tracks(n=300_000):
    return ({'ph': 'X', 'pid': 1, 'tid': i, 'ts': i, 'dur': 1, 'name': 'x'} for i in range(n))


def streams(n=100_000):
    return (_kernel(i, tid=i, args={'stream': i}) for i in range(n))


def kinds(n=200_000):
    return (_kernel(i, name=f'kernel_{i}') for i in range(n))


def host_names(n=200_000):
    return ({'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': f'call {i}'} for i in range(n))


def nesting(n=200_000):
    return ({'ph': 'X', 'pid': 1, 'tid': 1, 'ts': i, 'dur': 2 * (n - i), 'name': 'f'} for i in range(n))


def begins(n=300_000):
    return ({'ph': 'B', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'f'} for i in range(n))


def async_begins(n=200_000):
    return ({'ph': 'b', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'f', 'cat': 'c', 'id': i} for i in range(n))


def args(n=100_000):
    return (_kernel(i, args={f'a{k}': i for k in range(20)}) for i in range(n))


def new_args(n=100_000):
    return (_kernel(i, args={f'a{i}': i}) for i in range(n))


def steps(n=100_000):
    for i in range(n):
        yield {'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{i}', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 9}
        yield _kernel(i)


def devices_and_steps(devices=500, steps=500):
    for s in range(steps):
        yield {'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{s}', 'pid': 9999, 'tid': 1,
               'ts': 1000 * s, 'dur': 900}
    for d in range(devices):
        yield _kernel(d, pid=d, ts=0, dur=1000 * steps, args={'device': d})


def collectives(n=100_000):
    return (_kernel(i, name=f'ncclDevKernel_AllReduce_{i}', args={
        'Collective name': 'allreduce', 'Group size': 2, 'Process Group Ranks': f'[0, {i}]'}) for i in range(n))


def replica_groups(n=300, ids=8192):
    groups = '{{' + ','.join(str(k) for k in range(ids)) + '}}'
    for i in range(n):
        name = f'all-reduce.{i}'
        yield {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': name, 'args': {
            'hlo_op': name, 'hlo_module': 'm',
            'long_name': f'%{name} = f32[1]{{0}} all-reduce(f32[1]{{0}} %p), replica_groups={groups}, to_apply=%add'}}
    yield {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/device:GPU:0'}}
    yield {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': 'XLA Ops'}}


def modules(n=100_000):
    yield {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/device:GPU:0'}}
    yield {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': 'XLA Ops'}}
    for i in range(n):
        yield {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': 'op',
               'args': {'hlo_op': 'op', 'hlo_module': f'jit_f{i}', 'program_id': str(i)}}


def scopes(n=20_000, depth=40):
    yield {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/device:GPU:0'}}
    yield {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': 'XLA Ops'}}
    for i in range(n):
        path = '/'.join(f's{i}' for _ in range(depth))
        yield {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': f'op.{i}',
               'args': {'hlo_op': f'op.{i}', 'hlo_module': 'm', 'tf_op': path}}


def deep_scope(n=200, depth=20_000):
    yield {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/device:GPU:0'}}
    yield {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': 'XLA Ops'}}
    for i in range(n):
        yield {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': f'op.{i}',
               'args': {'hlo_op': f'op.{i}', 'hlo_module': 'm', 'tf_op': f'r{i}' + '/a' * depth}}


def counters(n=300_000):
    return ({'ph': 'C', 'pid': 1, 'ts': i, 'name': f'c{i}', 'args': {'v': i}} for i in range(n))


def memory(n=200_000):
    return ({'ph': 'i', 's': 't', 'pid': 1, 'tid': 1, 'ts': i, 'name': '[memory]', 'args': {
        'Total Allocated': i, 'Device Type': 1, 'Device Id': i, 'Bytes': 8, 'Addr': i}} for i in range(n))


def flows(n=200_000):
    for i in range(n):
        yield {'ph': 's', 'id': i, 'pid': 1, 'tid': 1, 'ts': i, 'name': 'f', 'cat': 'ac2g'}


def launches(n=100_000):
    for i in range(n):
        yield {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 1,
               'args': {'correlation': i}}
        yield _kernel(i)


def copies(n=100_000):
    return (_kernel(i, cat='gpu_memcpy', name=f'Memcpy HtoD {i}', args={'bytes': i}) for i in range(n))


def compiles(n=100_000):
    return ({'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': f'PjitFunction(f{i})'} for i in range(n))


def _same(event, n, at_once=1000):
    assert n % at_once == 0
    return pieces([b','.join([event] * at_once)] * (n // at_once))


def smallest_events(n=3_000_000):
    """The least JSON an event can be: deflate makes a thousandth of it."""
    return _same(b'{"ph":"X","ts":1}', n)


def repeated_events(n=2_000_000):
    return _same(b'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5}', n)


def zeros(n=1 << 30):
    yield b'{"traceEvents":[{"ph":"X","ts":1,"name":"a'
    for _ in range(n >> 20):
        yield bytes(1 << 20)


def _plane(name, lines=(), events=(), stats=()):
    out = wire.text(2, name) + b''.join(wire.bytes_(3, x) for x in lines)
    out += b''.join(wire.bytes_(4, wire.number(1, i) + wire.bytes_(2, m)) for i, m in events)
    out += b''.join(wire.bytes_(5, wire.number(1, i) + wire.bytes_(2, wire.number(1, i) + wire.text(2, s))) for i, s in stats)
    return wire.bytes_(1, out)


def xplane_planes(n=30_000):
    meta = [(1, wire.number(1, 1) + wire.text(2, 'op'))]
    for i in range(n):
        line = wire.number(1, 1) + wire.text(2, 'XLA Ops') + wire.bytes_(4, wire.number(1, 1) + wire.number(3, 5))
        yield _plane(f'/device:GPU:{i}', [line], meta)


def xplane_empty_events(n=1_000_000):
    """Two bytes an event: everything left out."""
    body = wire.text(2, 'XLA Ops') + b'\x22\x00' * n
    yield _plane('/device:GPU:0', [body], [(0, wire.text(2, 'op'))])


def xplane_metadata(n=500_000):
    line = wire.text(2, 'XLA Ops') + wire.bytes_(4, wire.number(1, 1) + wire.number(3, 5))
    yield _plane('/device:GPU:0', [line], ((i, b'') for i in range(n)))


def xplane_lines(n=300_000):
    line = wire.bytes_(4, wire.number(1, 1) + wire.number(3, 5))
    yield _plane('/device:GPU:0', (wire.number(1, i) + line for i in range(n)), [(1, wire.text(2, 'op'))])


def hlo_modules(n=20_000):
    """Each a module of one computation with one instruction, in /host:metadata."""
    def module(i):
        instruction = wire.text(1, f'op.{i}') + wire.text(2, 'add') + wire.number(35, 1)
        computation = wire.text(1, 'main') + wire.bytes_(2, instruction) + wire.number(5, 1)
        return wire.bytes_(1, wire.text(1, f'm{i}') + wire.bytes_(3, computation) + wire.number(5, i))
    events = ((i, wire.number(1, i) + wire.text(2, f'm{i}({i})') +
               wire.bytes_(5, wire.number(1, 1) + wire.bytes_(6, module(i)))) for i in range(n))
    yield _plane('/host:metadata', events=events, stats=[(1, 'Hlo Proto')])
    line = wire.text(2, 'XLA Ops') + wire.bytes_(4, wire.number(1, 1) + wire.number(3, 5))
    yield _plane('/device:TPU:0', [line], [(1, wire.text(2, 'op.1'))])


def _unfixed(x, shift):
    y = x
    for _ in range(64 // shift):
        y = x ^ y >> shift
    return y


def chosen_names(n=60_000, chosen=True):
    """Names of 16 bytes that fell into one slot of the table while its hash was a fixed function; else any such."""
    full = 2**64 - 1
    m, k, mix = 0xff51afd7ed558ccd, 0x9fb21c651e98df25, 0xd6e8feb86659fd93
    inverse = {a: pow(a, -1, 2**64) for a in (m, k, mix)}
    first = int.from_bytes(b'kernel__', 'little')
    h = ((1 ^ 16 * 0x9e3779b97f4a7c15 & full) ^ first) * m & full
    bad, made, i = set(b'"\\') | set(range(32)), 0, 0
    while made < n:
        i += 1
        x = i << 24 | 7 if chosen else i * k & full
        for _ in range(2):
            x = _unfixed(x, 32) * inverse[mix] & full
        x = _unfixed(x, 32)
        last = (_unfixed(x ^ h ^ h >> 32, 29) * inverse[k] & full).to_bytes(8, 'little')
        if x & 1 and not bad.intersection(last):
            made += 1
            yield b'{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":5,"name":"kernel__%b"}' % (10 * made, last)


JSON = (device_processes, devices_and_names, kineto_devices, tracks, streams, kinds, host_names, nesting, begins,
        async_begins, args, new_args, steps, devices_and_steps, collectives, replica_groups, modules, scopes,
        deep_scope, counters, memory, flows, launches, copies, compiles)
ALL = {f.__name__: (f'{f.__name__}.json.gz', lambda f=f: json_pieces(f())) for f in JSON}
ALL |= {f.__name__: (f'{f.__name__}.json.gz', f) for f in (smallest_events, repeated_events, zeros)}
ALL['chosen_names'] = ('chosen_names.json.gz', lambda: pieces(chosen_names()))
ALL |= {f.__name__: (f'{f.__name__}.xplane.pb', f) for f in
        (xplane_planes, xplane_empty_events, xplane_metadata, xplane_lines, hlo_modules)}


def write(path, parts):
    """Packed by gzip where the name says so. Returns the path."""
    packer = zlib.compressobj(6, wbits=31) if path.suffix == '.gz' else None
    parts = iter(parts)
    with open(path, 'wb', buffering=1 << 20) as out:
        while some := list(itertools.islice(parts, 64)):
            out.write(packer.compress(b''.join(some)) if packer else b''.join(some))
        if packer:
            out.write(packer.flush())
    return path


def make(name, directory):
    file_name, parts = ALL[name]
    return write(directory / file_name, parts())
