"""What is true of a scene, from its own events (docs/reference/metrics.md#breakdown): no reader, no
file."""


def union(spans):
    """Disjoint, ascending."""
    out = []
    for start, end in sorted(s for s in spans if s[1] > s[0]):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(spans):
    return sum(e - s for s, e in union(spans))


def minus(a, b):
    out, b = [], union(b)
    for start, end in union(a):
        for s, e in b:
            if e <= start or s >= end:
                continue
            if s > start:
                out.append([start, s])
            start = max(start, e)
        if start < end:
            out.append([start, end])
    return out


def both(a, b):
    return minus(a, minus(a, b))


def spans(ops, kind=None):
    return [(o.start, o.end) for o in ops if kind in (None, o.kind)]


def window(device):
    return min(o.start for o in device.ops), max(o.end for o in device.ops)


def idle(device):
    return minus([window(device)], spans(device.ops))


def exposed(device, kind):
    hidden_by = {'communication': ['compute'], 'copy': ['compute', 'communication']}[kind]
    return minus(spans(device.ops, kind), [s for k in hidden_by for s in spans(device.ops, k)])


def breakdown(device):
    start, end = window(device)
    comm = length(spans(device.ops, 'communication'))
    out = {'window_ps': end - start, 'compute_ps': length(spans(device.ops, 'compute')),
           'exposed_comm_ps': length(exposed(device, 'communication')),
           'exposed_copy_ps': length(exposed(device, 'copy')), 'idle_ps': length(idle(device)),
           'busy_ps': length(spans(device.ops)), 'comm_ps': comm,
           'copy_ps': length(spans(device.ops, 'copy'))}
    out['overlap_comm_ps'] = comm - out['exposed_comm_ps']
    return out


def gap_parts(host, device):
    """Of every gap: (start, end, host late until, call until): the launch call of the op that ends it."""
    calls = {e.stats['correlation_id']: e for t in host.threads for e in t.events if 'correlation_id' in e.stats}
    first = {}
    for o in device.ops:
        first.setdefault(o.start, o)
    for start, end in idle(device):
        call = calls[first[end].correlation]
        yield start, end, max(start, min(end, call.start)), max(start, min(end, call.end))


def host_late(host, device):
    return sum(late - start for start, _, late, _ in gap_parts(host, device))


def idle_parts(host, device):
    """Of every gap: (host late, in the launch call, from there to the op)."""
    return [(late - start, call - late, end - call) for start, end, late, call in gap_parts(host, device)]
