"""PyTorch memory snapshots made here: small ones as Python pickles them, and one of any size, written entry by entry.

  torch_snapshot.py FILE BYTES    a history of about so many bytes, each entry with a stack of 30 frames
"""
import pickle
import struct
import sys

APPENDS_EVERY = 1000


def frame(name, file, line):
    return {'name': name, 'filename': file, 'line': line}


def block(address, size, state='active_allocated', frames=(), requested=None):
    return {'address': address, 'size': size, 'requested_size': size if requested is None else requested, 'state': state,
            'frames': list(frames)}


def segment(address, blocks, device=0):
    active = [b for b in blocks if b['state'] == 'active_allocated']
    return {'device': device, 'address': address, 'total_size': sum(b['size'] for b in blocks),
            'allocated_size': sum(b['size'] for b in active), 'active_size': sum(b['size'] for b in active),
            'requested_size': sum(b['requested_size'] for b in active), 'stream': 0, 'segment_type': 'large',
            'segment_pool_id': (0, 0), 'is_expandable': False, 'frames': [], 'blocks': blocks}


def entry(action, addr, size, time_us, frames=()):
    return {'action': action, 'addr': addr, 'size': size, 'stream': 0, 'time_us': time_us, 'frames': list(frames)}


def freed(addr, size, time_us):
    return [entry('free_requested', addr, size, time_us), entry('free_completed', addr, size, time_us)]


def step(number, time_us):
    return [{'stage': s, 'name': f'ProfilerStep#{number}', 'device': 0, 'time_us': t} for s, t in
            (('START', time_us), ('END', time_us + 900))]


def snapshot(segments, traces, notes=()):
    return {'segments': segments, 'device_traces': traces, 'allocator_settings': {'max_split_size': -1, 'roundup': {}},
            'external_annotations': list(notes)}


def training(steps=8, leak=True):
    """Weights from before, activations that come and go, and, in each step, what is appended to a list."""
    weights, activation, kept = (frame(n, f, l) for n, f, l in (
        ('init', '/job/model.py', 10), ('forward', '/job/model.py', 20), ('remember', '/job/train.py', 30)))
    inside = frame('linear', '/lib/site-packages/torch/nn/functional.py', 1)
    blocks = [block(1 << 20, 4 << 20, frames=[inside, weights])]
    trace, notes, at, stays = [], [], 1_700_000_000_000_000, []
    for i in range(steps):
        notes += step(i, at)
        trace.append(entry('alloc', 8 << 20, 2 << 20, at + 100, [inside, activation]))
        if leak:
            address = (16 << 20) + (i << 16)
            trace.append(entry('alloc', address, 1 << 16, at + 200, [kept]))
            stays.append(block(address, 1 << 16, frames=[kept]))
        trace += freed(8 << 20, 2 << 20, at + 300)
        at += 1000
    notes += step(steps, at)
    segments = [segment(1 << 20, blocks + stays + [block(8 << 20, 2 << 20, 'inactive')])]
    return snapshot(segments, [trace], notes)


def dump(path, value, protocol=4):
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    return path


class Writer:
    """A pickle of protocol 4 by hand, with what recurs in the memo, as the C pickler writes it."""

    def __init__(self, out):
        self.out, self.memo, self.known = out, 0, {}

    def put(self, data):
        self.out.write(data)

    def memoize(self):
        self.memo += 1
        return b'\x94'

    def text(self, s):
        if s in self.known:
            return self.get(self.known[s])
        self.known[s] = self.memo
        b = s.encode()
        return b'\x8c' + bytes([len(b)]) + b + self.memoize()

    @staticmethod
    def get(n):
        return b'h' + bytes([n]) if n < 256 else b'j' + struct.pack('<I', n)

    @staticmethod
    def number(n):
        if n < 256:
            return b'K' + bytes([n])
        if n < 1 << 31:
            return b'J' + struct.pack('<i', n)
        b = n.to_bytes((n.bit_length() + 8) // 8, 'little')
        return b'\x8a' + bytes([len(b)]) + b


def write_large(path, size, depth=30, live=2000):
    """Returns what must be found: entries, allocations, peak."""
    with open(path, 'wb', buffering=1 << 20) as out:
        w = Writer(out)
        w.put(b'\x80\x04}' + w.memoize() + b'(' + w.text('segments') + b']' + w.memoize() + w.text('device_traces')
              + b']' + w.memoize() + b']' + w.memoize() + b'(')
        # the first entry has all frames, and the words that later ones take from the memo
        words = ('addr', 'size', 'stream', 'time_us', 'alloc', 'free_requested', 'free_completed')
        w.put(b'}' + w.memoize() + b'(' + w.text('action') + w.text('snapshot') + w.text('words') + b'('
              + b''.join(w.text(x) for x in words) + b't' + w.memoize() + w.text('frames') + b']' + w.memoize() + b'(')
        frames = []
        for i in range(2000):
            head = b'}' + w.memoize()
            frames.append(w.memo - 1)
            w.put(head + b'(' + w.text('name') + w.text(f'f{i % 97}') + w.text('filename') + w.text(f'/job/m{i % 31}.py')
                  + w.text('line') + w.number(i) + b'u')
        w.put(b'eu')
        stacks = [b''.join(w.get(frames[(i * 7 + k * 13) % 2000]) for k in range(depth)) for i in range(500)]
        keys = [w.text(k) for k in ('action', 'addr', 'size', 'stream', 'time_us', 'frames')]
        actions = {a: w.text(a) for a in words[4:]}
        entries = allocations = level = peak = items = 0
        at, held = 1_700_000_000_000_000, []
        batch = []

        def one(action, addr, nbytes, stack):
            nonlocal entries, items, at
            at += 1
            batch.append(b'}' + w.memoize() + b'(' + keys[0] + actions[action] + keys[1] + w.number(addr) + keys[2]
                         + w.number(nbytes) + keys[3] + b'K\0' + keys[4] + w.number(at) + keys[5] + b']'
                         + w.memoize() + (b'(' + stack + b'e' if stack else b'') + b'u')
            entries += 1
            items += 1
            if items == APPENDS_EVERY:
                out.write(b''.join(batch) + b'e(')
                batch.clear()
                items = 0

        while out.tell() < size:
            i = allocations
            nbytes = 512 * (1 + i * 7919 % 4096)
            one('alloc', (1 << 46) + (i % (4 * live)) * (1 << 21), nbytes, stacks[i % 500])
            allocations += 1
            level += nbytes
            peak = max(peak, level)
            held.append(((1 << 46) + (i % (4 * live)) * (1 << 21), nbytes, stacks[i % 500]))
            if len(held) > live:
                addr, n, stack = held.pop(i % live)
                one('free_requested', addr, n, stack)
                one('free_completed', addr, n, stack)
                level -= n
        out.write(b''.join(batch) + b'ea' + b'u.')
    return {'entries': entries, 'allocations': allocations, 'peak': peak, 'end': level}


if __name__ == '__main__':
    print(write_large(sys.argv[1], int(sys.argv[2])))
