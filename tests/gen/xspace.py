"""A scene's host as an XSpace (docs/reference/xprof.md#xspace), the way XLA's profilers write
it."""
import zlib

from . import wire

KERNEL = 'regs:32 static_shared:0 dynamic_shared:0 grid:108,1,1 block:256,1,1 occ_pct:50'
COPY_NAMES = {'h2d': 'MemcpyH2D', 'd2h': 'MemcpyD2H', 'd2d': 'MemcpyD2D', 'memset': 'Memset'}


class Plane:
    def __init__(self, name, ident=0):
        self.name, self.ident = name, ident
        self.lines, self.event_ids, self.stat_ids, self.own = [], {}, {}, {}

    def stat_id(self, name):
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def stat(self, name, value):
        out = wire.number(1, self.stat_id(name))
        if isinstance(value, float):
            return out + wire.double(2, value)
        if isinstance(value, str):
            return out + wire.text(5, value)
        if isinstance(value, bytes):
            return out + wire.bytes_(6, value)
        return out + wire.number(4, value)

    def event_id(self, name, display='', stats=()):
        return self.event_ids.setdefault((name, display, tuple(stats)), len(self.event_ids) + 1)

    def event(self, ident, start, dur, stats):
        out = wire.number(1, ident) + wire.number(2, start) + wire.number(3, dur)
        return out + b''.join(wire.bytes_(4, self.stat(k, v)) for k, v in stats.items())

    def line(self, ident, name, events, timestamp_ns=0):
        """events: (metadata id, start, dur, stats)"""
        events = sorted(events, key=lambda e: (e[1], -e[2]))
        out = wire.number(1, ident) + wire.text(2, name)
        if timestamp_ns:
            out += wire.number(3, timestamp_ns)
        self.lines.append(out + b''.join(wire.bytes_(4, self.event(*e)) for e in events))

    def encode(self):
        out = wire.number(1, self.ident) + wire.text(2, self.name)
        out += b''.join(wire.bytes_(3, line) for line in self.lines)
        for (name, display, stats), ident in self.event_ids.items():
            meta = wire.number(1, ident) + wire.text(2, name)
            meta += wire.text(4, display) if display else b''
            meta += b''.join(wire.bytes_(5, self.stat(k, v)) for k, v in stats)
            out += wire.bytes_(4, wire.number(1, ident) + wire.bytes_(2, meta))
        own = b''.join(wire.bytes_(6, self.stat(k, v)) for k, v in self.own.items())
        for name, ident in self.stat_ids.items():
            meta = wire.number(1, ident) + wire.text(2, name)
            out += wire.bytes_(5, wire.number(1, ident) + wire.bytes_(2, meta))
        return out + own


def shift(host):
    return host.clock_error


def _meta(op):
    pairs = (('hlo_category', op.category), ('tf_op', op.scope), ('source', op.source),
             ('shape_with_layout', op.shape), ('bytes_accessed', op.bytes), ('program_id', op.program_id))
    symbol = [('symbol_id', 1 + zlib.crc32(f'{op.program_id}{op.name}'.encode()))]  # XProf's tables skip ops without
    return symbol + [(k, v) for k, v in pairs if v]


def _tpu_ops(plane, host, device, ops, own_clock):
    for o in ops:
        stats = dict(o.stats)
        if own_clock:
            stats |= {'device_offset_ps': o.start, 'device_duration_ps': o.dur}
        start, end = device.to_host(o.start), device.to_host(o.end)
        yield (plane.event_id(o.text or o.name, o.name if o.text else '', _meta(o)), start + shift(host),
               max(end - start, 0), stats)


def _tpu(host, device):
    plane = Plane(device.name, device.ordinal)
    plane.own = dict(device.stats)

    def aligned(events):
        return [(plane.event_id(e.name), e.start + shift(host), e.dur, e.stats) for e in events]

    if device.steps:
        plane.line(1, 'Steps', aligned(device.steps))
    if device.modules:
        plane.line(2, 'XLA Modules', aligned(device.modules))
    plane.line(3, 'XLA Ops', _tpu_ops(plane, host, device, device.ops, True))
    if device.async_ops:
        plane.line(4, 'Async XLA Ops', _tpu_ops(plane, host, device, device.async_ops, False))
    return plane


def _gpu(host, device):
    plane = Plane(device.name, device.ordinal)
    plane.own = dict(device.stats)
    for stream in sorted({o.stream for o in device.ops}):
        mine = [o for o in device.ops if o.stream == stream]
        events = []
        for o in mine:
            stats = {'correlation_id': o.correlation} if o.correlation else {}
            if o.what == 'kernel':
                stats['kernel_details'] = KERNEL
            if o.module:
                stats |= {'hlo_module': o.module, 'hlo_op': o.scope.rsplit('/', 1)[-1], 'program_id': o.program_id}
            if o.scope:
                stats['tf_op'] = o.scope
            if o.what in ('h2d', 'd2h', 'd2d'):
                source, target = (m.lower() for m in o.memory)
                stats['memcpy_details'] = f'kind_src:{source} kind_dst:{target} size:{o.bytes} dest:0 async:1'
            name = COPY_NAMES.get(o.what, o.name)
            events.append((plane.event_id(name), o.start + shift(host), o.dur, stats | o.stats))
        kinds = ','.join(sorted({COPY_NAMES.get(o.what, 'Compute') for o in mine}))
        plane.line(stream, f'Stream #{stream}({kinds})', events)
    return plane


def _cpu_threads(plane, host):
    """XLA:CPU has no plane of its own: its ops stand on threads of /host:CPU."""
    for d in (d for d in host.devices if d.kind == 'cpu'):
        events = [(plane.event_id(o.name), o.start + shift(host), o.dur,
                   {'hlo_op': o.name, 'hlo_module': o.module or 'jit_f', 'program_id': o.program_id or 1,
                    'device_ordinal': d.ordinal} | o.stats) for o in d.ops]
        plane.line(5000 + d.ordinal, f'tf_XLAPjRtCpuClient/{5000 + d.ordinal}', events)


def _programs(host):
    """The plane of the programs' HLO protos (docs/reference/memory-and-mfu.md#hlo-protos)."""
    out = wire.number(1, 99) + wire.text(2, '/host:metadata')
    for number, module, proto in host.programs:
        stat = wire.bytes_(5, wire.number(1, 1) + wire.bytes_(6, proto))
        event = wire.number(1, number) + wire.text(2, f'{module}({number})') + stat
        out += wire.bytes_(4, wire.number(1, number) + wire.bytes_(2, event))
    stat = wire.number(1, 1) + wire.text(2, 'Hlo Proto')
    return out + wire.bytes_(5, wire.number(1, 1) + wire.bytes_(2, stat))


def encode(host):
    planes = [{'gpu': _gpu, 'tpu': _tpu}[d.kind](host, d) for d in host.devices if d.kind != 'cpu']
    cpu = Plane('/host:CPU')
    for t in host.threads:
        cpu.line(t.id, t.name, [(cpu.event_id(e.name, '', [('category', e.category)] if e.category else ()),
                                 e.start + shift(host), e.dur, e.stats) for e in t.events])
    _cpu_threads(cpu, host)
    environment = Plane('Task Environment')
    environment.own = {'profile_start_time': host.start_ns,
                       'profile_stop_time': host.start_ns + (host.stop or host.last()) // 1000} | host.meta
    out = b''.join(wire.bytes_(1, p.encode()) for p in [*planes, cpu, environment])
    out += wire.bytes_(1, _programs(host)) if host.programs else b''
    return out + b''.join(wire.text(3, w) for w in host.warnings) + wire.text(4, host.name)
