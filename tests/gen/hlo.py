"""HLO protos with buffer assignments, writing only (memory_mfu.md A2): programs of one computation."""
from dataclasses import dataclass

from . import wire

F32 = 11
ALLOC, FREE = 0, 1


@dataclass
class Value:
    name: str
    opcode: str
    dims: tuple
    kind: str  # parameter, output, temp; donated: a parameter whose memory the last value takes
    operands: tuple = ()  # places of earlier values
    tiles: tuple = ()
    line: int = 0
    scope: str = ''
    offset: int = 0  # within the memory of temporaries
    freed_at: int = 0  # the place of the value that is the last to read this temporary

    def size(self):
        dims = list(self.dims)
        for i, tile in enumerate(reversed(self.tiles)):
            dims[-1 - i] = -(-dims[-1 - i] // tile) * tile
        out = 4
        for d in dims:
            out *= d
        return out


def _numbers(field, values):
    return b''.join(wire.number(field, v) for v in values)


def _shape(v):
    layout = _numbers(1, reversed(range(len(v.dims)))) + (wire.bytes_(6, _numbers(1, v.tiles)) if v.tiles else b'')
    return wire.number(2, F32) + _numbers(3, v.dims) + wire.bytes_(5, layout)


def _instruction(i, values):
    v = values[i]
    out = wire.text(1, v.name) + wire.text(2, v.opcode) + wire.bytes_(3, _shape(v))
    if v.scope or v.line:
        out += wire.bytes_(7, wire.text(2, v.scope) + wire.text(3, 'model.py') + wire.number(4, v.line))
    if v.opcode == 'parameter':
        out += wire.number(9, [p for p in values if p.opcode == 'parameter'].index(v))
    return out + wire.number(35, i + 1) + _numbers(36, (o + 1 for o in v.operands))


def _allocations(values, temp_size):
    """One for each argument and result, and one for all temporaries."""
    out, index = b'', 0
    donor = next((i for i, v in enumerate(values) if v.kind == 'donated'), None)
    for i, v in enumerate(values):
        if v.kind == 'temp' or (donor is not None and v.kind == 'output'):
            continue
        held = [i] if v.kind != 'donated' else [i, *(j for j, w in enumerate(values) if w.kind == 'output')]
        a = wire.number(1, index) + wire.number(2, v.size())
        a += wire.number(5, 1) + wire.number(6, i) if v.kind != 'output' else b''
        a += wire.number(7, 1) if v.kind != 'parameter' else b''
        a += b''.join(wire.bytes_(9, wire.number(1, h + 1) + wire.number(3, v.size())) for h in held)
        out += wire.bytes_(3, a + (wire.number(13, 1) if v.kind == 'donated' else b''))
        index += 1
    if temp_size:
        held = b''.join(wire.bytes_(9, wire.number(1, i + 1) + wire.number(2, v.offset) + wire.number(3, v.size()))
                        for i, v in enumerate(values) if v.kind == 'temp')
        out += wire.bytes_(3, wire.number(1, index) + wire.number(2, temp_size) + held)
    return out


def _trace(values):
    events = b''
    for i, v in enumerate(values):
        freed = [j for j, w in enumerate(values) if w.kind == 'temp' and w.freed_at == i]
        for kind, j in ([(ALLOC, i)] if v.kind == 'temp' else []) + [(FREE, j) for j in freed]:
            events += wire.bytes_(1, wire.number(1, kind) + wire.number(2, j + 1) + wire.text(4, v.name))
    return wire.bytes_(4, events) if events else b''


def proto(module, number, values, temp_size=0):
    """Arguments come first, the last value is the result."""
    computation = wire.text(1, 'main') + wire.number(5, 1) + wire.number(6, len(values))
    computation += b''.join(wire.bytes_(2, _instruction(i, values)) for i in range(len(values)))
    order = wire.bytes_(1, wire.number(1, 1) + wire.bytes_(2, _numbers(1, range(1, len(values) + 1))))
    made = wire.text(1, module) + wire.text(2, 'main') + wire.bytes_(3, computation) + wire.number(5, number)
    made += wire.number(6, 1) + wire.bytes_(7, order)
    buffers = b''.join(wire.bytes_(1, wire.number(1, i + 1) + wire.number(2, v.size()) + wire.bytes_(3, wire.number(4, i + 1)))
                       for i, v in enumerate(values))
    return wire.bytes_(1, made) + wire.bytes_(3, buffers + _allocations(values, temp_size) + _trace(values))
