"""python3 many.py N FILE: an XSpace with N events of one name, each a µs with a µs of idle after it, on a
GPU whose launches are on one thread. Written piece by piece: ten million need no memory."""
import pathlib
import sys

if __package__ in (None, ''):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen import wire  # noqa: E402


def event(i, start, correlation):
    stats = wire.bytes_(4, wire.number(1, 1) + wire.number(4, correlation))
    return wire.bytes_(4, wire.number(1, 1) + wire.number(2, start) + wire.number(3, 10**6) + stats)


def plane(name, line, meta, events):
    """Length first: the events are made twice rather than kept."""
    head = wire.number(1, 5) + wire.text(2, line)
    body = sum(len(e) for e in events())
    tail = wire.bytes_(4, wire.number(1, 1) + wire.bytes_(2, wire.number(1, 1) + wire.text(2, meta)))
    tail += wire.bytes_(5, wire.number(1, 1) + wire.bytes_(2, wire.number(1, 1) + wire.text(2, 'correlation_id')))
    name = wire.text(2, name)
    lines = wire.varint(3 << 3 | 2) + wire.varint(len(head) + body) + head
    yield wire.varint(1 << 3 | 2) + wire.varint(len(name) + len(lines) + body + len(tail)) + name + lines
    yield from events()
    yield tail


def main(n, path):
    def ops():
        return (event(i, i * 2 * 10**6 + 10**6, i + 1) for i in range(n))

    def calls():
        return (event(i, i * 2 * 10**6, i + 1) for i in range(n // 10))

    with open(path, 'wb', buffering=1 << 20) as f:
        for piece in plane('/device:GPU:0', 'Stream #5(Compute)', 'one_kernel', ops):
            f.write(piece)
        for piece in plane('/host:CPU', 'python', 'cuLaunchKernel', calls):
            f.write(piece)


if __name__ == '__main__':
    main(int(sys.argv[1]), sys.argv[2])
