"""An XSpace of the recorder, decoded by other means than ours: strictly, as protobuf has it. Texts that are
no UTF-8 are errors."""
import struct


def fields(data):
    """(field, value) of a protobuf message; numbers as unsigned, fixed64 as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, data[at:at + 8]
            at += 8
        else:
            assert tag & 7 == 2
            size = varint()
            assert at + size <= len(data)
            yield tag >> 3, data[at:at + size]
            at += size


def signed(n):
    return n - (1 << 64) if n >> 63 else n


class Plane:
    def __init__(self, data):
        self.id, self.name, self.lines, self.own = 0, '', [], {}
        self.events, self.stats = {}, {}
        lines, own = [], []
        for field, value in fields(data):
            if field == 1:
                self.id = signed(value)
            elif field == 2:
                self.name = value.decode()
            elif field == 3:
                lines.append(value)
            elif field == 4:
                entry = dict(fields(value))
                self.events[entry[1]] = entry[2]
            elif field == 5:
                entry = dict(fields(value))
                self.stats[entry[1]] = dict(fields(entry[2]))[2].decode()
            elif field == 6:
                own.append(value)
        self.names = {i: self.meta(m) for i, m in self.events.items()}
        self.own = dict(self.stat(s) for s in own)
        self.lines = [self.line(data) for data in lines]

    def stat(self, data):
        value = None
        for field, v in fields(data):
            if field == 1:
                name = self.stats[v]
            elif field == 2:
                value = struct.unpack('<d', v)[0]
            elif field == 4:
                value = signed(v)
            elif field in (3, 7):
                value = v
            else:
                value = v.decode()
        return name, value

    def meta(self, data):
        name, stats = '', {}
        for field, value in fields(data):
            if field == 2:
                name = value.decode()
            elif field == 5:
                key, v = self.stat(value)
                stats[key] = v
        return name, stats

    def line(self, data):
        ident, name, events = 0, '', []
        for field, value in fields(data):
            if field == 1:
                ident = signed(value)
            elif field == 2:
                name = value.decode()
            elif field == 4:
                events.append(self.event(value))
            else:
                assert field != 3  # times are relative to profile_start_time
        return ident, name, events

    def event(self, data):
        start = dur = 0
        stats = {}
        for field, value in fields(data):
            if field == 1:
                name = self.names[value][0]
            elif field == 2:
                start = signed(value)
            elif field == 3:
                dur = signed(value)
            else:
                key, v = self.stat(value)
                assert key not in stats
                stats[key] = v
        return name, start, dur, stats
