#!/usr/bin/env python3
"""An independent second opinion on device time, slow and simple: reference.py FILE… [--steps] [--ops N]

Prints one JSON line a file: for each device the breakdown (integer ps, names as in
docs/reference/json.md#report), the sum of self times over its tracks and, with --ops, the raw names
with calls and summed durations. FILE: an intact trace.json[.gz] of Kineto or XLA, or an xplane.pb.
Definitions: docs/reference/metrics.md#op-classes (TPU on the device's own clock). It agrees with
every row of docs/reference/metrics.md#sample-profiles. It is no model of good code and reads
nothing damaged: tests compare with it on the files of the traces, they don't import it into the
product.
"""
import argparse, gzip, json, re, sys
from collections import Counter, defaultdict, namedtuple
from decimal import Decimal

# ---- intervals, [start, end) in ps -------------------------------------------------------------------------------
def U(iv):
    out = []
    for a, b in sorted(x for x in iv if x[1] > x[0]):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def L(u):
    return sum(b - a for a, b in u)


def SUB(A, B):
    out, j = [], 0
    for a, b in A:
        while j < len(B) and B[j][1] <= a:
            j += 1
        k = j
        while k < len(B) and B[k][0] < b:
            if B[k][0] > a:
                out.append([a, B[k][0]])
            a = max(a, B[k][1])
            k += 1
        if a < b:
            out.append([a, b])
    return out


# ---- classes (docs/reference/metrics.md#op-classes) ----------------------------------------------
COMM = re.compile(r'nccl|rccl|^hccl|cross_device_reduce|multimem_all|(one|two)_?shot_all_?reduce|all[-_]?reduce|all[-_]?gather|reduce[-_]?scatter|all[-_]?to[-_]?all|'
                  r'collective[-_]?(permute|broadcast)|sendrecv|nvshmem|deep_ep|^psum(\.|$)|^ppermute', re.I)
COPY = re.compile(r'^(memcpy|memset|hipmemcpy|hipmemset|copyhosttodevice|copydevicetohost|copydevicetodevice|memory_copy_|__amd_rocclr_(copy|fill)buffer|infeed|outfeed|copy-(start|done))', re.I)
HLO_COMM = re.compile(r'^(all-reduce|all-gather|all-to-all|reduce-scatter|collective-|all-reduce-scatter|send|recv)')
HLO_COPY = re.compile(r'^(infeed|outfeed|copy-start|copy-done|host send|host recv)')


def cls(name, cat='', hlo=''):
    if cat in ('gpu_memcpy', 'gpu_memset', 'memcpy', 'memset') or HLO_COPY.match(hlo):
        return 'copy'
    if hlo:
        return 'comm' if HLO_COMM.match(hlo) else 'compute'
    return 'copy' if COPY.search(name) else 'comm' if COMM.search(name) else 'compute'


Op = namedtuple('Op', 's e cls name track')


def breakdown(ops):
    I = {c: U([(o.s, o.e) for o in ops if o.cls == c]) for c in ('compute', 'comm', 'copy')}
    busy = U([(o.s, o.e) for o in ops])
    w = max(o.e for o in ops) - min(o.s for o in ops)
    ec = SUB(I['comm'], I['compute'])
    ex = SUB(SUB(I['copy'], I['compute']), I['comm'])
    return dict(window_ps=w, compute_ps=L(I['compute']), exposed_comm_ps=L(ec), exposed_copy_ps=L(ex), idle_ps=w - L(busy), busy_ps=L(busy),
                comm_ps=L(I['comm']), copy_ps=L(I['copy']), overlap_comm_ps=L(I['comm']) - L(ec))


def lines_union(ops):
    """the sum over tracks of the union: what the self times add up to (at every instant one open event owns the time)"""
    t = defaultdict(list)
    for o in ops:
        t[o.track].append((o.s, o.e))
    return sum(L(U(iv)) for iv in t.values())


# ---- Chrome JSON -------------------------------------------------------------------------------------------------
def ps(us):
    """microseconds as written (int, or the decimal's text) → exact ps"""
    if type(us) is int:
        return us * 1000000
    d = Decimal(us.strip()) * 1000000
    return int(d.to_integral_value())


def unzip(path):
    b = open(path, 'rb').read()
    return gzip.decompress(b) if b[:2] == b'\x1f\x8b' else b


def chrome(data):
    """events of a well-formed trace; floats stay text"""
    d = json.loads(data.decode('utf8', 'replace').lstrip('\ufeff'), strict=False, parse_float=str)
    return d if isinstance(d, list) else d['traceEvents']


GPU_CATS = ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset')


def kineto(events):
    """device → [Op]"""
    dev = defaultdict(list)
    for e in events:
        cat = str(e.get('cat', '')).lower()
        if e.get('ph') == 'X' and cat in GPU_CATS:
            a = e.get('args') or {}
            s, n = ps(e['ts']), e.get('name', '')
            dev[str(a.get('device', e.get('pid')))].append(Op(s, s + ps(e.get('dur', 0)), cls(n, cat), n, (e.get('pid'), e.get('tid'))))
    return dict(dev)


def tpu_json(events):
    """XLA's own JSON: devices with a line "XLA Ops" or "Stream #…" → [Op]"""
    proc, thr, dev = {}, {}, defaultdict(list)
    for e in events:
        if e.get('ph') == 'M' and e['name'] == 'process_name':
            proc[e['pid']] = e['args']['name']
        elif e.get('ph') == 'M' and e['name'] == 'thread_name':
            thr[e['pid'], e['tid']] = e['args']['name']
    for e in events:
        k = (e.get('pid'), e.get('tid'))
        if e.get('ph') == 'X' and proc.get(k[0], '').startswith('/device:') and (thr.get(k) == 'XLA Ops' or thr.get(k, '').startswith('Stream #')):
            a = e.get('args') or {}
            s, d = ps(e['ts']), ps(e['dur'])
            if 'device_offset_ps' in a and 'device_duration_ps' in a:
                s, d = int(a['device_offset_ps']), int(a['device_duration_ps'])
            dev[proc[k[0]]].append(Op(s, s + d, cls(e['name'], '', a.get('hlo_category', '')), e['name'], k))
    return dict(dev)


def clip(ops, a, b):
    return [o._replace(s=max(o.s, a), e=min(o.e, b)) for o in ops if o.e > a and o.s < b]


def within(ops, a, b):
    """the breakdown of a step [a, b)"""
    c = clip(ops, a, b)
    d = breakdown(c) if c else dict.fromkeys(BD, 0)
    return {**d, 'window_ps': b - a, 'idle_ps': b - a - d['busy_ps']}


def kineto_steps(events):
    """[(number, start, end)], stretched to the device work that was launched in them (torch_tb_profiler's rule)"""
    X = [e for e in events if e.get('ph') == 'X']
    host, launch = [], {}
    for e in X:
        c, a = str(e.get('cat', '')).lower(), e.get('args') or {}
        if e['name'].startswith('ProfilerStep#') and c not in ('gpu_user_annotation',):
            host.append((ps(e['ts']), ps(e['ts']) + ps(e['dur']), int(e['name'][13:])))
        elif c in ('runtime', 'cuda_runtime', 'cuda_driver') and 'correlation' in a:
            launch[a['correlation']] = ps(e['ts'])
    host.sort()
    ends, before = [b for _, b, _ in host], 0
    for e in X:
        if str(e.get('cat', '')).lower() in GPU_CATS:
            end, at = ps(e['ts']) + ps(e['dur']), launch.get((e.get('args') or {}).get('correlation'))
            i = None if at is None else next((i for i, (a, b, _) in enumerate(host) if a <= at <= b), None)
            if i is not None:
                ends[i] = max(ends[i], end)
            elif host and (at is None or at < host[0][0]) and end <= host[0][1]:
                before = max(before, end)
    out, prev = [], before
    for (a, b, n), e in zip(host, ends):
        out.append((n, max(prev, a), e))
        prev = e
    return out


def json_devices(path):
    ev = chrome(unzip(path))
    return kineto(ev) or tpu_json(ev)


# ---- XSpace ------------------------------------------------------------------------------------------------------
def varint(b, i):
    r = s = 0
    while True:
        c = b[i]
        i += 1
        r |= (c & 127) << s
        if c < 128:
            return r, i
        s += 7


def fields(b):
    i, n = 0, len(b)
    while i < n:
        t, i = varint(b, i)
        w = t & 7
        if w == 0:
            v, i = varint(b, i)
        elif w == 2:
            k, i = varint(b, i)
            if i + k > n:
                raise ValueError('length overrun')
            v = b[i:i + k]
            i += k
        else:
            k = {1: 8, 5: 4}[w]
            v = b[i:i + k]
            i += k
        yield t >> 3, v


def signed(v):
    return v - (1 << 64) if v >= 1 << 63 else v


Plane = namedtuple('Plane', 'name lines meta')                       # meta: id → (name, display, {stat: value})
Line = namedtuple('Line', 'name id ts events')                       # events: [(start_ps, dur_ps, metadata_id, {stat: value})]


def _stats(parts, sm):
    out = {}
    for p in parts:
        d = dict(fields(p))
        k = sm.get(d.get(1, 0), '')
        v = sm.get(d[7], '') if 7 in d else d[5].decode('utf8', 'replace') if 5 in d else next((d[f] for f in (3, 4, 2, 6) if f in d), None)
        out[k] = v
    return out


def xspace(path):
    data = path if isinstance(path, (bytes, memoryview)) else open(path, 'rb').read()
    return [_plane(v) for f, v in fields(data) if f == 1]


def _plane(b):
    name, raws, em, sm = '', [], {}, {}
    for f, v in fields(b):
        if f == 2:
            name = v.decode('utf8', 'replace')
        elif f == 3:
            raws.append(v)
        elif f in (4, 5):
            d = dict(fields(v))
            (em if f == 4 else sm)[signed(d.get(1, 0))] = d.get(2, b'')
    sm = {k: dict(fields(v)).get(2, b'').decode('utf8', 'replace') for k, v in sm.items()}
    meta = {}
    for k, v in em.items():
        fs = list(fields(v))
        one = dict(fs)
        meta[k] = (one.get(2, b'').decode('utf8', 'replace'), one.get(4, b'').decode('utf8', 'replace'), _stats([x for f, x in fs if f == 5], sm))
    return Plane(name, [_line(v, sm) for v in raws], meta)


def _line(b, sm):
    name = disp = ''
    ts = lid = 0
    evs = []
    for f, v in fields(b):
        if f == 1:
            lid = signed(v)
        elif f == 2:
            name = v.decode('utf8', 'replace')
        elif f == 11:
            disp = v.decode('utf8', 'replace')
        elif f == 3:
            ts = signed(v)
        elif f == 4:
            evs.append(v)
    out = []
    for v in evs:
        mid = off = dur = 0
        st = []
        for f, x in fields(v):
            if f == 1:
                mid = signed(x)
            elif f == 2:
                off = signed(x)
            elif f == 3:
                dur = signed(x)
            elif f == 4:
                st.append(x)
        out.append((ts * 1000 + off, dur, mid, _stats(st, sm)))
    return Line(disp or name, lid, ts, out)


def plane_devices(planes):
    """device plane → [Op] of its op lines, on the device's own clock where the event has it
    (docs/reference/metrics.md#clocks)"""
    dev = defaultdict(list)
    for p in planes:
        if not re.match(r'/device:(GPU|TPU):\d+$', p.name):
            continue
        for ln in p.lines:
            if not (ln.name == 'XLA Ops' or ln.name.startswith('Stream #')):
                continue
            for s, d, m, st in ln.events:
                n, disp, mst = p.meta.get(m, ('', '', {}))
                if 'device_offset_ps' in st and 'device_duration_ps' in st:
                    s, d = st['device_offset_ps'], st['device_duration_ps']
                hlo = st.get('hlo_category') or mst.get('hlo_category') or ''
                if not hlo and ' = ' in n:
                    m_ = re.search(r'[\])}] ([a-z][a-z0-9-]*)\(', n)
                    hlo = m_.group(1) if m_ else ''
                dev[p.name].append(Op(s, s + d, cls(disp or n, '', hlo), disp or n, (p.name, ln.id, ln.name)))
    return {k: v for k, v in dev.items() if v}


def devices(path):
    if not path.endswith('.pb'):
        return json_devices(path)
    planes = xspace(path)
    return plane_devices(planes) or cpu_devices(planes)


# ---- JAX on CPU (docs/reference/jax-cpu.md#async-ops) --------------------------------------------
def hlo_opcodes(planes):
    """(program_id, instruction) → opcode, out of the HLO protos in /host:metadata"""
    out = {}
    for p in planes:
        if p.name != '/host:metadata':
            continue
        for _, _, st in p.meta.values():
            for f, module in fields(st.get('Hlo Proto') or b''):
                for g, computation in fields(module) if f == 1 else ():
                    for h, instruction in fields(computation) if g == 3 else ():
                        if h == 2:
                            d = dict(fields(instruction))
                            out[st.get('program_id'), d.get(1, b'').decode()] = d.get(2, b'').decode()
    return out


def cpu_devices(planes):
    """"/host:CPU:N" (N = device_ordinal) → [Op]: from the start of an op's event to the end of its "end: " event"""
    code, ops, ends = hlo_opcodes(planes), [], {}
    for p in planes:
        for ln in p.lines if p.name == '/host:CPU' else ():
            for s, d, m, st in ln.events:
                if 'hlo_op' in st:
                    ops.append((s, s + d, st))
                elif p.meta.get(m, ('',))[0].startswith('end: ') and '_c' in st:
                    ends[st.get('_ct'), st['_c']] = s + d
    dev = defaultdict(list)
    for s, e, st in ops:
        e = max(e, ends.get((st.get('_pt'), st.get('_p')), e)) if '_p' in st else e
        name = st['hlo_op']
        hlo = code.get((st.get('program_id'), name), '')
        dev['/host:CPU:%s' % st.get('device_ordinal', 0)].append(Op(s, e, cls(name, '', hlo), name, 'ops'))
    return dict(dev)


def latest_wins(ops):
    """name → self ps on one timeline: at every instant the most recently started open op owns the time (ties: the shorter, then file order)"""
    order = sorted(range(len(ops)), key=lambda i: (ops[i].s, -ops[i].e, i))
    out, stack, now = Counter(), [], 0

    def upto(t):
        nonlocal now
        while stack and now < t:
            i = stack[-1]
            if ops[i].e <= now:
                stack.pop()
                continue
            step = min(t, ops[i].e)
            out[ops[i].name] += step - now
            now = step
        now = max(now, t)
    for i in order:
        upto(ops[i].s)
        stack.append(i)
    upto(max((o.e for o in ops), default=0))
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('files', nargs='+')
    ap.add_argument('--steps', action='store_true', help="Kineto: also every ProfilerStep's window and breakdown, for a file with one device")
    ap.add_argument('--ops', type=int, default=0, metavar='N', help='the N raw names with the largest sums, a device')
    a = ap.parse_args()
    bad = 0
    for path in a.files:
        try:
            devs = devices(path)
            out = {'file': path, 'devices': {}}
            for name, ops in sorted(devs.items()):
                d = out['devices'][name] = {'events': len(ops), **breakdown(ops), 'self_ps': lines_union(ops)}
                if a.ops:
                    n, t = Counter(o.name for o in ops), Counter()
                    for o in ops:
                        t[o.name] += o.e - o.s
                    own = latest_wins(ops) if name.startswith('/host:CPU') else {}
                    d['ops'] = [{'name': k, 'calls': n[k], 'total_ps': v, **({'self_ps': own[k]} if own else {})} for k, v in t.most_common(a.ops)]
            if a.steps and not path.endswith('.pb') and len(devs) == 1:
                ops = next(iter(devs.values()))
                out['steps'] = [{'number': n, 'start_ps': s, 'end_ps': e, **within(ops, s, e)} for n, s, e in kineto_steps(chrome(unzip(path)))]
        except Exception as e:                                        # damaged, or not a timeline: say so, go on
            out, bad = {'file': path, 'error': f'{type(e).__name__}: {e}'}, 1
        print(json.dumps(out))
    return bad


if __name__ == '__main__':
    sys.exit(main())
