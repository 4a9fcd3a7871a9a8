"""Memory profiles as jax.profiler.save_device_memory_profile writes them (pprof, gzip)."""
import gzip


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(holders, time_ns):
    """holders: (function, file, line, device, bytes, count)"""
    strings = ['', 'allocations', 'count', 'space', 'bytes', 'kind', 'device', 'buffer']

    def text(s):
        if s not in strings:
            strings.append(s)
        return strings.index(s)

    out = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    for i, (function, file, line, device, nbytes, count) in enumerate(holders, 1):
        labels = field(3, field(1, 5) + field(2, 7)) + field(3, field(1, 6) + field(2, text(device)))
        out += field(2, field(1, varint(i)) + field(2, varint(count) + varint(nbytes)) + labels)
        out += field(4, field(1, i) + field(4, field(1, i) + field(2, line)))
        out += field(5, field(1, i) + field(2, text(function)) + field(4, text(file)))
    return gzip.compress(out + b''.join(field(6, s.encode()) for s in strings) + field(9, time_ns))
