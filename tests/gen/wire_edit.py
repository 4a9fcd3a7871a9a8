"""Messages taken apart and put together again, with some of their fields changed and all others as they stand."""
from . import wire

VARINT, FIXED64, LEN, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    out = shift = 0
    while True:
        byte = data[at]
        out |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return out, at


def fields(data):
    """(number, value, bytes as they stand) of each field; value: a number, or bytes."""
    at = 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        if key & 7 == VARINT:
            value, at = varint(data, at)
        else:
            n, at = varint(data, at) if key & 7 == LEN else ({FIXED64: 8, FIXED32: 4}[key & 7], at)
            value, at = data[at:at + n], at + n
        yield key >> 3, value, data[start:at]


def get(data, number, missing=None):
    return next((v for n, v, _ in fields(data) if n == number), missing)


def numbers(data, number):
    """Of a repeated field, packed or not."""
    out = []
    for n, v, _ in fields(data):
        if n == number and isinstance(v, int):
            out.append(v)
        elif n == number:
            at = 0
            while at < len(v):
                x, at = varint(v, at)
                out.append(x)
    return out


def edit(data, **by_field):
    """The message with the fields f1, f5 … replaced by what a function makes of their values: bytes, a number, or None,
    which leaves the field out."""
    out = b''
    for n, v, raw in fields(data):
        change = by_field.get(f'f{n}')
        made = change(v) if change else v
        if made is None:
            continue
        out += raw if made == v else wire.number(n, made) if isinstance(made, int) else wire.bytes_(n, made)
    return out
