"""python3 many.py N FILE: an XSpace with N events of one name, each a µs with a µs of idle after it, on a
GPU, and a launch call for every tenth. All events have one length (varints padded with zeros, which
protobuf allows), so that the file is written piece by piece."""
import pathlib
import sys

if __package__ in (None, ''):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen import wire  # noqa: E402

US = 10**6
MORE = [bytes((x & 127 | 128, x >> 7 | 128)) for x in range(1 << 14)]
LAST = [bytes((x & 127 | 128, x >> 7)) for x in range(1 << 14)]
HEAD, MIDDLE = wire.number(1, 1) + b'\x10', wire.number(3, US) + b'\x22\x07' + wire.number(1, 1) + b'\x20'
LENGTH = len(HEAD) + 8 + len(MIDDLE) + 4
EVENT = b'\x22' + wire.varint(LENGTH) + HEAD


def event(start, correlation):
    return b''.join((EVENT, MORE[start & 16383], MORE[start >> 14 & 16383], MORE[start >> 28 & 16383],
                     LAST[start >> 42], MIDDLE, MORE[correlation & 16383], LAST[correlation >> 14]))


def plane(f, name, line, meta, events, count):
    head = wire.number(1, 5) + wire.text(2, line)
    tail = wire.bytes_(4, wire.number(1, 1) + wire.bytes_(2, wire.number(1, 1) + wire.text(2, meta)))
    tail += wire.bytes_(5, wire.number(1, 1) + wire.bytes_(2, wire.number(1, 1) + wire.text(2, 'correlation_id')))
    name, body = wire.text(2, name), count * (LENGTH + 2)
    lines = wire.varint(3 << 3 | 2) + wire.varint(len(head) + body) + head
    f.write(wire.varint(1 << 3 | 2) + wire.varint(len(name) + len(lines) + body + len(tail)) + name + lines)
    f.writelines(events)
    f.write(tail)


def main(n, path):
    with open(path, 'wb', buffering=1 << 20) as f:
        plane(f, '/device:GPU:0', 'Stream #5(Compute)', 'one_kernel',
              (event((2 * i + 1) * US, i + 1) for i in range(n)), n)
        plane(f, '/host:CPU', 'python', 'cuLaunchKernel', (event(2 * i * US, i + 1) for i in range(n // 10)), n // 10)


if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2])
