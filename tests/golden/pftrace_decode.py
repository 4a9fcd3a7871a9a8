"""A .pftrace by other means than ours: packets, clocks, interned names, tracks and slices, strictly
as Perfetto reads them (docs/reference/perfetto.md#pftrace). What it would drop or count as an error
fails."""

import collections
import json

from xspace_decode import fields, signed

Slice = collections.namedtuple("Slice", "track name start end args flows")
Track = collections.namedtuple("Track", "uuid parent kind name pid tid rank description label")
Point = collections.namedtuple("Point", "track ns phase flow enclosing inside")


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
    if 2 in value:
        return name, bool(value[2])
    if 9 in value:
        return name, json.loads(text(value[9]))
    return name, value.get(3, value.get(5))


class Trace:
    """tracks by uuid, slices (those without an end have end None), instants as slices, counters as (track, ns, value),
    and points: what a flow says of the slice around it, or of the next."""

    def __init__(self, data, unfinished=False):
        self.tracks, self.slices, self.instants, self.counters, self.points = {}, [], [], [], []
        self.sequences, self.events, open_slices = {}, [], collections.defaultdict(list)
        for i, (field, packet) in enumerate(fields(data)):
            assert field == 1
            if i == 0:
                self.first(once(packet))
            else:
                self.packet(once(packet))
        for now, event, state in sorted(self.events, key=lambda e: e[0]):  # as they come where times are equal
            self.event(event, state, now, open_slices)
        for uuid, stack in open_slices.items():
            assert unfinished or not stack, "a slice has no end"
            self.slices += [Slice(self.tracks[uuid], n, s, None, args, flows) for n, _, s, args, flows in stack]

    def first(self, packet):
        """What is written before anything is known: the clock since boot is the trace's, and begins at 0."""
        assert list(packet) == [6]
        snapshot = once(packet[6])
        assert once(snapshot[1]) == {1: 6, 2: 0} and snapshot[2] == 6

    def packet(self, packet):
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
            steps = own.get(3, 0) == 1  # else times count from the beginning
            assert defaults[58] == 64 and own[2] == (boot[2] if steps else 0)
            self.sequences[sequence] = {"ns": boot[2], "steps": steps, "track": once(defaults.get(11, b"")).get(11),
                                        1: {}, 2: {}, 3: {}, 29: {}}
            return
        assert packet[13] == 2
        state = self.sequences[sequence]
        for field, entry in fields(packet.get(12, b"")):
            entry = once(entry)
            assert entry[1]
            state[field][entry[1]] = text(entry.get(2, b""))
        if 11 not in packet:
            return
        now = state["ns"] + packet[8]
        if state["steps"]:
            state["ns"] = now
        self.events.append((now, packet[11], state))

    def descriptor(self, d):
        kind, of = next(((k, once(d[f])) for k, f in (("process", 3), ("thread", 4), ("counter", 8)) if f in d),
                        ("plain", {}))
        name = d.get(2, of.get(6 if kind == "process" else 5, b""))
        assert d[1] and d[1] not in self.tracks
        assert not d.get(5) or d[5] in self.tracks, "a parent comes after its child"
        self.tracks[d[1]] = Track(d[1], d.get(5), kind, text(name), of.get(1), of.get(2), d.get(12),
                                  text(d.get(14, b"")), text(of.get(8, b"")) if kind == "process" else "")

    def event(self, data, state, now, open_slices):
        e = once(data)
        track, kind = self.tracks[e.get(11, state["track"])], e.get(9)
        stack = open_slices[track.uuid]
        if kind is None:
            legacy = once(e[6])
            self.points.append(Point(track, now, chr(legacy[2]), legacy[6], bool(legacy.get(12)), bool(stack)))
            return
        if kind == 4:
            assert track.kind == "counter"
            self.counters.append((track, now, e[44] if 44 in e else signed(e[30])))
            return
        name = text(e[23]) if 23 in e else state[2][e[10]] if 10 in e else None
        category = text(e[22]) if 22 in e else state[1][e[3]] if 3 in e else None
        args = dict(arg_of(v, state[3], state[29]) for f, v in fields(data) if f == 4)
        flows = [v for f, v in fields(data) if f == 47]
        if kind == 1:
            assert name is not None
            stack.append((name, category, now, args, flows))
        elif kind == 3:
            self.instants.append(Slice(track, name, now, now, args, flows))
        else:
            assert kind == 2
            self.end(track, stack, now, (name, category), args)

    def end(self, track, stack, now, what, more):
        """Closes the innermost slice; where the end has a name, the one of this name and category, if there is one."""
        of = [i for i, s in enumerate(stack) if what[0] is None or s[:2] == what]
        if what[0] is not None and not of:
            return
        name, _, start, args, flows = stack.pop(of[-1])
        assert start <= now
        self.slices.append(Slice(track, name, start, now, args | more, flows))

    def added(self, track):
        """Not of the file, but of our analysis: a group that is no process, or a track in it."""
        while track.parent:
            track = self.tracks[track.parent]
        return track.kind == "plain" and "analysis" in track.name

    def of_file(self):
        """The slices that are the file's."""
        return [s for s in self.slices if not self.added(s.track)]

    def process_of(self, track):
        """None: it stands at the top."""
        while track and track.kind != "process":
            track = self.tracks.get(track.parent)
        return track

    def note(self, name):
        """What a track says that has no events; None where there is none."""
        return next((t.description for t in self.tracks.values() if t.kind == "plain" and t.name == name), None)
