"""Protobuf wire format, writing only (docs/reference/xprof.md#xspace)."""
import struct


def varint(n):
    n &= 2**64 - 1  # negative numbers are ten bytes of two's complement
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def double(field, x):
    return varint(field << 3 | 1) + struct.pack('<d', x)


def bytes_(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def text(field, s):
    return bytes_(field, s.encode('utf-8'))
