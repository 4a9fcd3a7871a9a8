"""A .pftrace by other means than ours: packets, clocks, interned names, tracks and slices, strictly
as Perfetto reads them (perfetto.md 3). What it would drop or count as an error fails."""

import collections

from xspace_decode import fields, signed

Slice = collections.namedtuple("Slice", "track name start end args flows")
Track = collections.namedtuple("Track", "uuid parent kind name pid tid rank")


def once(data):
    """The last value of each field."""
    return dict(fields(data))


def text(value):
    return value.decode("utf-8", "replace")


def arg_of(data, names, texts):
    value = once(data)
    name = names[value[1]]
    if 17 in value:
        return name, texts[value[17]]
    if 6 in value:
        return name, text(value[6])
    if 4 in value:
        return name, signed(value[4])
    return name, value.get(3, value.get(5))


class Trace:
    """tracks by uuid, slices, counters as (track, ns, value), instants as (track, name, ns, args)."""

    def __init__(self, data):
        self.tracks, self.slices, self.counters, self.instants = {}, [], [], []
        self.sequences, open_slices = {}, collections.defaultdict(list)
        for order, (field, packet) in enumerate(fields(data)):
            assert field == 1
            self.packet(once(packet), packet, open_slices, order)
        assert not any(open_slices.values()), "a slice has no end"

    def packet(self, packet, raw, open_slices, order):
        if 60 in packet:
            self.descriptor(once(packet[60]))
            return
        sequence = packet[10]
        assert sequence
        if packet.get(13) == 1:
            clocks = [once(c) for f, c in fields(packet[6]) if f == 1]
            own = next(c for c in clocks if c[1] == 64)
            boot = next(c for c in clocks if c[1] == 6)
            defaults = once(packet[59])
            assert defaults[58] == 64 and own[3] == 1 and own[2] == boot[2]
            self.sequences[sequence] = {"ns": boot[2], "track": once(defaults[11])[11], 2: {}, 3: {}, 29: {}}
            return
        assert packet[13] == 2
        state = self.sequences[sequence]
        for field, entry in fields(packet.get(12, b"")):
            entry = once(entry)
            assert entry[1]
            state[field][entry[1]] = text(entry.get(2, b""))
        state["ns"] += packet[8]
        self.event(packet[11], state, open_slices)

    def descriptor(self, d):
        kind, of = next(((k, once(d[f])) for k, f in (("process", 3), ("thread", 4), ("counter", 8)) if f in d),
                        ("plain", {}))
        name = d.get(2, of.get(6 if kind == "process" else 5, b""))
        assert d[1] and d[1] not in self.tracks
        assert not d.get(5) or d[5] in self.tracks, "a parent comes after its child"
        self.tracks[d[1]] = Track(d[1], d.get(5), kind, text(name), of.get(1), of.get(2), d.get(12))

    def event(self, data, state, open_slices):
        e = once(data)
        track, kind, now = self.tracks[e.get(11, state["track"])], e[9], state["ns"]
        if kind == 4:
            assert track.kind == "counter"
            self.counters.append((track, now, signed(e[30])))
            return
        stack = open_slices[track.uuid]
        if kind == 2:
            name, start, args, flows = stack.pop()
            assert start <= now
            self.slices.append(Slice(track, name, start, now, args, flows))
            return
        assert kind in (1, 3)
        name = text(e[23]) if 23 in e else state[2][e[10]]
        args = dict(arg_of(v, state[3], state[29]) for f, v in fields(data) if f == 4)
        if kind == 3:
            self.instants.append((track, name, now, args))
            return
        stack.append((name, now, args, [v for f, v in fields(data) if f == 47]))

    def process_of(self, track):
        while track.kind != "process":
            track = self.tracks[track.parent]
        return track
