"""A scene: what hosts and devices did, in integer picoseconds, told once and then written as XSpace
or Kineto JSON (xspace.py, kineto.py) and measured without either (measure.py).

GPU work stands on streams and is joined to its launch calls by correlation. TPU work stands on the
device's own clock; `to_host` places it on the host's."""
import random
from contextlib import contextmanager
from dataclasses import dataclass, field

US, MS, S = 10**6, 10**9, 10**12
EPOCH_NS = 1_750_000_000_000_000_000


@dataclass
class Event:
    """On a host thread, or on the Steps and XLA Modules lines."""
    name: str
    start: int
    dur: int
    stats: dict = field(default_factory=dict)
    cat: str = 'cpu_op'  # Kineto's
    category: str = ''  # as our recorder has it

    @property
    def end(self):
        return self.start + self.dur


@dataclass
class Op:
    """On a device. `what`: kernel, h2d, d2h, d2d, memset (GPU), or hlo (TPU, CPU)."""
    name: str
    start: int
    dur: int
    what: str = 'kernel'
    kind: str = 'compute'  # compute, communication, copy: what it is in truth
    stream: int = 7
    correlation: int = 0
    bytes: int = 0
    memory: tuple = ('Pinned', 'Device')  # source and destination of a GPU copy
    category: str = ''
    text: str = ''  # HLO
    scope: str = ''
    source: str = ''
    module: str = ''
    program_id: int = 0
    stats: dict = field(default_factory=dict)  # of the single event
    shape: str = ''

    @property
    def end(self):
        return self.start + self.dur


@dataclass
class Thread:
    id: int
    name: str
    events: list = field(default_factory=list)


@dataclass
class Device:
    kind: str  # gpu, tpu, cpu
    ordinal: int = 0
    ops: list = field(default_factory=list)
    async_ops: list = field(default_factory=list)
    modules: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)  # of the plane: memory_size, …
    offset: int = 0  # host clock − device clock, at device time 0
    wander: int = 0  # … and by how much it jumps to and fro at every clock sync

    @property
    def name(self):
        return {'gpu': f'/device:GPU:{self.ordinal}', 'tpu': f'/device:TPU:{self.ordinal}',
                'cpu': f'/host:CPU:{self.ordinal}'}[self.kind]

    def to_host(self, t):
        sync = t // (37 * MS)
        return t + self.offset + (self.wander if sync % 2 else 0)


@dataclass
class Host:
    name: str = 'host-a'
    start_ns: int = EPOCH_NS  # profile_start_time, by this host's clock
    clock_error: int = 0  # this host's clock − the true time
    threads: list = field(default_factory=list)
    devices: list = field(default_factory=list)
    stop: int = 0  # end of the capture; 0: of the last event
    warnings: list = field(default_factory=list)
    meta: dict = field(default_factory=dict)  # what the program says of itself
    programs: list = field(default_factory=list)  # (id, module, HLO proto) of what was compiled

    def thread(self, name='python'):
        self.threads.append(Thread(1000 + len(self.threads), name))
        return self.threads[-1]

    def device(self, kind, **more):
        self.devices.append(Device(kind, len(self.devices), **more))
        return self.devices[-1]

    def last(self):
        ends = [e.end for t in self.threads for e in t.events]
        for d in self.devices:
            ends += [d.to_host(o.end) for o in d.ops + d.async_ops] + [e.end for e in d.modules + d.steps]
        return max(ends, default=0)


class Scene:
    def __init__(self, seed=1, hosts=1):
        self.random = random.Random(seed)
        self.hosts = [Host('host-' + 'abcdefgh'[i]) for i in range(hosts)]

    @property
    def host(self):
        return self.hosts[0]

    def noise(self, dur, percent):
        """dur ± percent, whole nanoseconds."""
        most = int(dur * percent) // 100_000
        return dur + self.random.randint(-most, most) * 1000


class GpuLoop:
    """A host thread that feeds one GPU: launches take their time on the host, work starts when it was
    launched and its stream is free."""

    def __init__(self, scene, host=None, device=None, thread='python', runtime='cuda', flavour='torch', start=0):
        self.scene, self.host = scene, host or scene.host
        self.device = device or self.host.device('gpu')
        self.thread = self.host.thread(thread)
        self.runtime, self.flavour = runtime, flavour
        self.t = start
        self.free = {}
        self.next_correlation = 1 + 1_000_000 * self.device.ordinal

    def work(self, name, dur, cat='cpu_op', **stats):
        """The thread does something for itself."""
        self.thread.events.append(Event(name, self.t, dur, stats, cat))
        self.t += dur

    @contextmanager
    def span(self, name, cat='cpu_op', **stats):
        e = Event(name, self.t, 0, stats, cat)
        self.thread.events.append(e)
        yield e
        e.dur = self.t - e.start

    def step(self, n):
        if self.flavour == 'torch':
            return self.span(f'ProfilerStep#{n}', 'user_annotation')
        return self.span('train', 'user_annotation', step_num=n, _r=1)

    def _call(self, name, dur, correlation):
        self.thread.events.append(Event(name, self.t, dur, {'correlation_id': correlation}, self.runtime + '_runtime'))
        self.t += dur

    def _put(self, op, call, call_dur, latency):
        op.correlation = self.next_correlation
        self.next_correlation += 1
        self._call(call, call_dur, op.correlation)
        op.start = max(self.t + latency, self.free.get(op.stream, 0))
        self.free[op.stream] = op.end
        self.device.ops.append(op)
        return op

    def launch(self, name, dur, stream=7, call_dur=4 * US, latency=2 * US, kind='compute', **more):
        call = {'cuda': 'cudaLaunchKernel', 'hip': 'hipLaunchKernel'}[self.runtime]
        return self._put(Op(name, 0, dur, 'kernel', kind, stream, **more), call, call_dur, latency)

    def copy(self, what, dur, nbytes=1 << 20, memory='Pinned', stream=7, call_dur=4 * US, latency=2 * US):
        pair = {'h2d': (memory, 'Device'), 'd2h': ('Device', memory), 'd2d': ('Device', 'Device')}[what]
        op = Op(what, 0, dur, what, 'copy', stream, bytes=nbytes, memory=pair)
        return self._put(op, self.runtime + 'MemcpyAsync', call_dur, latency)

    def after(self, *streams, of):
        """The stream `of` goes on when `streams` are done (an event wait on the device)."""
        self.free[of] = max(self.free.get(s, 0) for s in (*streams, of))

    def drain(self, name=None):
        """Waits for the device; the call returns when its last op is done."""
        done = max(self.free.values(), default=self.t)
        if done > self.t:
            self.thread.events.append(Event(name or self.runtime + 'DeviceSynchronize', self.t, done - self.t, {},
                                            self.runtime + '_runtime'))
            self.t = done


class TpuChip:
    """A TPU core: ops one after the other on its own clock, modules and steps around them."""

    def __init__(self, scene, host=None, start=1 * MS, **device):
        self.scene, self.host = scene, host or scene.host
        self.device = self.host.device('tpu', **device)
        self.t = start
        self.instance = 0

    def op(self, name, dur, category='convolution fusion', kind='compute', **more):
        more.setdefault('text', f'%{name} = bf16[128,1024]{{1,0}} fusion(bf16[128,1024]{{1,0}} %p.0), kind=kOutput')
        more.setdefault('module', 'jit_train_step')
        more.setdefault('program_id', 7)
        self.device.ops.append(Op(name, self.t, dur, 'hlo', kind, category=category, **more))
        self.t += dur
        return self.device.ops[-1]

    def all_reduce(self, dur, n=1, call=None, size=1 << 20, group=4, name=None):
        ids = ','.join(str(i) for i in range(group))
        name = name or f'all-reduce.{n}'
        text = f'%{name} = f32[{size // 4}]{{0}} all-reduce(f32[{size // 4}]{{0}} %p.1), channel_id={n}, ' \
               f'replica_groups={{{{{ids}}}}}, use_global_device_ids=true, to_apply=%add'
        stats = {} if call is None else {'all_reduce_unique_id': call}
        return self.op(name, dur, 'all-reduce', 'communication', text=text, bytes=size, stats=stats)

    def idle(self, dur):
        self.t += dur

    def _host_span(self, name, since, **stats):
        h = self.device.to_host
        return Event(name, h(since), h(self.t) - h(since), stats)

    @contextmanager
    def module(self, name='jit_train_step', program_id=7, run=None):
        since = self.t
        yield
        stats = {} if run is None else {'run_id': run}
        self.device.modules.append(self._host_span(f'{name}({program_id})', since, **stats))

    @contextmanager
    def step(self, n, line=True):
        since = self.t
        yield
        if line:
            self.device.steps.append(self._host_span(str(n), since))
