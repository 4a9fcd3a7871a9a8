"""HLO protos with buffer assignments, writing only (docs/reference/memory-and-mfu.md#hlo-protos):
programs of one computation."""
from dataclasses import dataclass

from . import wire

PRED, S32, F32, F64, TOKEN = 1, 4, 11, 12, 17
ALLOC, FREE, SHARE = 0, 1, 2


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
    type: int = F32
    minor_to_major: tuple = ()  # of its layout; descending if empty
    target: str = ''  # of a custom call
    more: bytes = b''  # fields of the instruction

    def size(self):
        dims = list(self.dims)
        for i, tile in enumerate(reversed(self.tiles)):
            dims[-1 - i] = -(-dims[-1 - i] // tile) * tile
        out = 8 if self.type == F64 else 4
        for d in dims:
            out *= d
        return out


def _numbers(field, values):
    return b''.join(wire.number(field, v) for v in values)


def _shape(v):
    layout = _numbers(1, v.minor_to_major or reversed(range(len(v.dims)))) + (wire.bytes_(6, _numbers(1, v.tiles)) if v.tiles else b'')
    return wire.number(2, v.type) + _numbers(3, v.dims) + wire.bytes_(5, layout)


def _instruction(i, values):
    v = values[i]
    out = wire.text(1, v.name) + wire.text(2, v.opcode) + wire.bytes_(3, _shape(v))
    if v.scope or v.line:
        out += wire.bytes_(7, wire.text(2, v.scope) + wire.text(3, 'model.py') + wire.number(4, v.line))
    if v.opcode == 'parameter':
        out += wire.number(9, [p for p in values if p.opcode == 'parameter'].index(v))
    out += wire.text(28, v.target) if v.target else b''
    return out + v.more + wire.number(35, i + 1) + _numbers(36, (o + 1 for o in v.operands))


def contracting(lhs, rhs):
    """Fields of a dot: the dimension of each operand that is summed over."""
    return wire.bytes_(30, wire.number(1, lhs) + wire.number(2, rhs))


def along(dimension):
    """Fields of an iota."""
    return wire.number(14, dimension)


EQUAL = wire.text(63, 'EQ')
ZERO = wire.bytes_(8, wire.bytes_(1, wire.number(2, F32)) + wire.bytes_(8, bytes(4)))


def buffer(number, size, instruction):
    return wire.bytes_(1, wire.number(1, number) + wire.number(2, size) + wire.bytes_(3, wire.number(4, instruction)))


def allocation(index, size, held, parameter=None, live_out=False, donated=False):
    """`held`: (buffer, offset, size) each."""
    out = wire.number(1, index) + wire.number(2, size)
    out += wire.number(5, 1) + wire.number(6, parameter) if parameter is not None else b''
    out += wire.number(7, 1) if live_out else b''
    out += b''.join(wire.bytes_(9, wire.number(1, n) + wire.number(2, offset) + wire.number(3, of)) for n, offset, of in held)
    return wire.bytes_(3, out + (wire.number(13, 1) if donated else b''))


def heap(events):
    """`events`: (kind, buffer, instruction) each, and whose memory is shared."""
    return wire.bytes_(4, b''.join(wire.bytes_(1, wire.number(1, kind) + wire.number(2, number) + wire.text(4, name)
                                               + b''.join(wire.number(5, o) for o in other))
                                   for kind, number, name, *other in events))


def _allocations(values, temp_size):
    """One for each argument and result, and one for all temporaries."""
    out, index = b'', 0
    donor = next((i for i, v in enumerate(values) if v.kind == 'donated'), None)
    for i, v in enumerate(values):
        if v.kind == 'temp' or (donor is not None and v.kind == 'output'):
            continue
        held = [i] if v.kind != 'donated' else [i, *(j for j, w in enumerate(values) if w.kind == 'output')]
        out += allocation(index, v.size(), [(h + 1, 0, v.size()) for h in held], None if v.kind == 'output' else i,
                          v.kind != 'parameter', v.kind == 'donated')
        index += 1
    if temp_size:
        out += allocation(index, temp_size, [(i + 1, v.offset, v.size()) for i, v in enumerate(values) if v.kind == 'temp'])
    return out


def _trace(values):
    events = []
    for i, v in enumerate(values):
        freed = [j for j, w in enumerate(values) if w.kind == 'temp' and w.freed_at == i]
        events += [(ALLOC, i + 1, v.name)] if v.kind == 'temp' else []
        events += [(FREE, j + 1, v.name) for j in freed]
    return heap(events) if events else b''


def assignment(values, temp_size=0):
    buffers = b''.join(buffer(i + 1, v.size(), i + 1) for i, v in enumerate(values))
    return buffers + _allocations(values, temp_size) + _trace(values)


def proto(module, number, values, temp_size=0, assigned=None, more=b''):
    """Arguments come first, the last value is the result. assigned: an assignment in the place of the right one;
    more: fields of the module."""
    computation = wire.text(1, 'main') + wire.number(5, 1) + wire.number(6, len(values))
    computation += b''.join(wire.bytes_(2, _instruction(i, values)) for i in range(len(values)))
    order = wire.bytes_(1, wire.number(1, 1) + wire.bytes_(2, _numbers(1, range(1, len(values) + 1))))
    made = wire.text(1, module) + wire.text(2, 'main') + wire.bytes_(3, computation) + wire.number(5, number)
    made += wire.number(6, 1) + wire.bytes_(7, order)
    return wire.bytes_(1, made + more) + wire.bytes_(3, assignment(values, temp_size) if assigned is None else assigned)


def stack_frames(*files):
    """The files of a module's stack frames, for `more`."""
    return wire.bytes_(17, b''.join(wire.text(1, f) for f in files))


def write_large(module, number, count, pad=0):
    """A program of so many instructions, each of which reads the last two and is freed when the next but one is made;
    of about 270 bytes each with its buffer and events, and `pad` more. Returns the proto and its peak in bytes."""
    shape = wire.number(2, F32) + _numbers(3, (256, 16)) + wire.bytes_(5, _numbers(1, (1, 0)))
    size, source = 256 * 16 * 4, wire.text(3, '/job/a/long/enough/path/to/the/model.py') + wire.number(4, 12)
    instructions, buffers, held, events = [], [], [], []
    for i in range(1, count + 1):
        name = f'fusion.{i}'
        out = wire.text(1, name) + wire.text(2, 'parameter' if i < 3 else 'fusion') + wire.bytes_(3, shape)
        out += wire.bytes_(7, wire.text(2, f'jit(step)/layer_{i % 96}/attention/dot_general' + pad * 'x') + source)
        out += wire.number(9, i - 1) if i < 3 else b''
        instructions.append(wire.bytes_(2, out + wire.number(35, i) + (_numbers(36, (i - 1, i - 2)) if i > 2 else b'')))
        buffers.append(buffer(i, size, i))
        if 2 < i < count:
            held.append((i, (i % 4) * size, size))
            events += [(ALLOC, i, name)] + ([(FREE, i - 2, name)] if i > 4 else [])
    computation = wire.text(1, 'main') + wire.number(5, 1) + wire.number(6, count) + b''.join(instructions)
    order = wire.bytes_(1, wire.number(1, 1) + wire.bytes_(2, wire.bytes_(1, b''.join(map(wire.varint, range(1, count + 1))))))
    made = wire.text(1, module) + wire.text(2, 'main') + wire.bytes_(3, computation) + wire.number(5, number)
    blocks = allocation(0, size, [(1, 0, size)], parameter=0) + allocation(1, size, [(2, 0, size)], parameter=1)
    blocks += allocation(2, size, [(count, 0, size)], live_out=True) + allocation(3, 4 * size, held)
    proto = wire.bytes_(1, made + wire.number(6, 1) + wire.bytes_(7, order))
    return proto + wire.bytes_(3, b''.join(buffers) + blocks + heap(events)), 6 * size
