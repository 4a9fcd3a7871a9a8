"""The events of an XSpace as the timeline has to show them, decoded and rounded by other means than ours."""
import collections
import struct

from xspace_decode import fields, signed


# Stats that jaxlib keeps for itself (docs/reference/xprof.md#trace-json).
HIDDEN = {'_pt', '_p', '_ct', '_c', '_r', 'flops', 'program_id', 'symbol_id'}


def text(data):
    return data.decode('utf-8', 'replace')


def half_up(ps):
    """Whole ns."""
    return (ps + 500) // 1000


class Said:
    """The fields of a message by their number; of one that may be there once the last counts."""

    def __init__(self, data):
        self.fields = collections.defaultdict(list)
        for field, value in fields(data):
            self.fields[field].append(value)

    def all(self, field):
        return self.fields[field]

    def last(self, field, missing=None):
        return self.fields[field][-1] if self.fields[field] else missing

    def number(self, field):
        return signed(self.last(field, 0))

    def text(self, field):
        return text(self.last(field, b''))


class Line:
    """id and name as they are shown; times of the events in ns, from the same zero as all lines of the file."""

    def __init__(self, plane, number, data):
        self.number = number
        said = Said(data)
        self.id = said.number(10) or said.number(1)
        self.name = said.text(11) or said.text(2)
        self.timestamp = said.number(3)
        self.raw = [plane.event(e) for e in said.all(4)]
        self.is_async = self.name == 'Async XLA Ops' and plane.name.startswith('/device:')
        # what a viewer orders threads by
        self.sort = number if plane.name == '/host:CPU' else self.id & 0xffffffff

    def shown(self, base):
        """(name, start, end, stats) of each event, in the file's order."""
        zero = self.timestamp - (base if self.timestamp >= base else 0)
        return [(name, zero + half_up(start), zero + half_up(start + max(dur, 0)), stats)
                for name, start, dur, stats in self.raw]


class Plane:
    def __init__(self, data):
        said = Said(data)
        self.id, self.name = said.number(1), said.text(2)
        stats, metas = (map(Said, said.all(field)) for field in (5, 4))
        self.stats = {entry.last(1, 0): Said(entry.last(2)).text(2) for entry in stats}
        metas = {entry.number(1): entry.last(2) for entry in metas}
        self.metas = {i: self.meta(m) for i, m in metas.items()}
        self.lines = [Line(self, i + 1, line) for i, line in enumerate(said.all(3))]

    def stat(self, data):
        key = value = None
        for field, v in fields(data):
            if field == 1:
                key = self.stats.get(v, '')
            elif field == 2:
                value = struct.unpack('<d', v)[0]
            elif field == 4:
                value = signed(v)
            elif field == 7:
                value = self.stats.get(v, '')
            elif field == 5:
                value = text(v)
            else:
                value = v
        return key, value

    def meta(self, data):
        said = Said(data)
        name, shown = said.text(2), said.text(4)
        stats = dict(map(self.stat, said.all(5)))
        return shown or name, dict({'long_name': name} if shown else {}, **stats)

    def event(self, data):
        said = Said(data)
        name, of_meta = self.metas.get(said.number(1), ('', {}))
        stats = of_meta | dict(map(self.stat, said.all(4)))
        return stats.get('step_name', name), said.number(2), said.number(3), stats


class Space:
    """The planes, and the zero of their times: that of the first Unix timestamp, if there is one."""

    def __init__(self, data):
        self.planes = [Plane(value) for field, value in fields(data) if field == 1]
        unix = [line.timestamp for p in self.planes for line in p.lines if line.timestamp > 1 << 53]
        self.base = min(unix, default=0)

    def lines(self):
        """(plane, line) of all that have an event."""
        return [(p, line) for p in self.planes for line in p.lines if line.raw]


def in_order(space):
    """(plane, line) in the order of the timeline: the host first."""
    return sorted(space.lines(), key=lambda p: p[0].name != '/host:CPU')


def flow_ends(stats, device):
    """(flow, begins) of what joins an event to others: a launch, else what it produces, else what it consumes."""
    if stats.get('correlation_id'):
        return ('launch', stats['correlation_id']), not device
    if '_p' in stats:
        return (stats.get('_pt', 0), stats['_p']), True
    if '_c' in stats:
        return (stats.get('_ct', 0), stats['_c']), False
    return None, False


def flows(space):
    """(begin, end) of every arrow; an id begins once, the first time."""
    begins, found = {}, []
    for both in (True, False):
        for plane, line in in_order(space):
            for name, start, end, stats in line.shown(space.base):
                flow, first = flow_ends(stats, plane.name.startswith('/device:'))
                if flow and first and both:
                    begins.setdefault(flow, (name, start, end))
                elif flow and not first and not both and flow in begins:
                    found.append((begins[flow], (name, start, end)))
    return found


def memory(space):
    """(start, allocator, bytes in use) of every event of an allocator: XLA's stacks are beside its heap."""
    found = []
    for plane, line in space.lines():
        for _, start, end, stats in line.shown(space.base):
            if 'bytes_allocated' not in stats or start != end or plane.name.startswith('/device:'):
                continue
            used = stats['bytes_allocated'] + (stats['bytes_reserved'] if 'bytes_available' in stats else 0)
            name = stats.get('allocator_name') or f"memory {stats['index_on_host']}"
            found.append((start, name, used))
    return found
