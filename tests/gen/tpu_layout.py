"""Gives a real XLA:CPU profile layouts of XLA:TPU: tile_matrices(xspace bytes).

Of every program in the profile the entry's float32 values of two or more dimensions get tiles of 8
by 128, as those of the shared TPU profiles have them (f32[5,1024,1024,256]{3,2,1,0:T(8,128)}), and
the buffers and blocks of arguments and results the size that these make of them
(docs/reference/memory-and-mfu.md#sizes-and-padding). All other bytes of the file stay what JAX
wrote; a program whose temporaries grow is refused, since their places would have to be planned
anew."""
import math

from . import wire
from .wire_edit import edit, fields, get, numbers

F32, TILE = 11, (8, 128)
def tiled_bytes(shape):
    dims, order = numbers(shape, 3), numbers(get(shape, 5, b''), 1)
    physical = [dims[i] for i in reversed(order)]
    for i, side in enumerate(reversed(TILE)):
        physical[-1 - i] = -(-physical[-1 - i] // side) * side
    return 4 * math.prod(physical)


def is_matrix(instruction):
    shape = get(instruction, 3, b'')
    return get(shape, 2) == F32 and len(numbers(shape, 3)) >= 2


def tile_proto(proto):
    module = get(proto, 1)
    if get(proto, 3) is None:
        return proto
    entry, tiled = get(module, 6, 0), {}  # instruction id → bytes
    tiles = wire.bytes_(6, wire.bytes_(1, b''.join(map(wire.varint, TILE))))

    def instruction(data):
        if not is_matrix(data):
            return data
        tiled[get(data, 35, 0)] = tiled_bytes(get(data, 3))
        return edit(data, f3=lambda shape: edit(shape, f5=lambda layout: layout + tiles))

    def computation(data):
        return edit(data, f2=instruction) if get(data, 5, 0) == entry else data

    module = edit(module, f3=computation)
    buffers = {}  # id → bytes, of those that grow

    def buffer(data):
        size = tiled.get(get(get(data, 3), 4, 0), get(data, 2, 0))
        if size == get(data, 2, 0):
            return data
        buffers[get(data, 1, 0)] = size
        return edit(data, f2=lambda _: size)

    def allocation(data):
        sizes = [buffers[get(v, 1, 0)] for n, v, _ in fields(data) if n == 9 and get(v, 1, 0) in buffers]
        if not sizes:
            return data
        assert get(data, 5) or get(data, 7), f'temporaries of {get(module, 1)} grow'
        return edit(data, f2=lambda _: max(sizes), f9=lambda a: edit(a, f3=lambda size: buffers.get(get(a, 1, 0), size)))

    assignment = edit(edit(get(proto, 3), f1=buffer), f3=allocation)
    return edit(proto, f1=lambda _: module, f3=lambda _: assignment)


def tile_matrices(xspace):
    def plane(data):
        if get(data, 2) != b'/host:metadata':
            return data
        return edit(data, f4=lambda entry: edit(entry, f2=lambda event: edit(event, f5=lambda stat: edit(stat, f6=tile_proto))))

    return edit(xspace, f1=plane)
