"""One scene for every rule of findings (docs/reference/findings.md#planted-causes), in which
exactly one cause is planted, and what must be said about it: computed from the scene, in ps."""
from dataclasses import dataclass, field

from . import hlo, measure
from .scene import MS, US, Event, GpuLoop, Op, Scene, TpuChip

KERNELS = ['ampere_sgemm_128x64_tn', 'flash_fwd_kernel', 'layer_norm_fwd', 'gelu_fwd', 'flash_bwd_kernel',
           'layer_norm_bwd', 'adam_update', 'embedding_bwd']  # eight alike: none is hot
FUSIONS = ['convolution_fusion', 'dot_fusion', 'add_fusion', 'softmax_fusion', 'norm_fusion', 'gelu_fusion',
           'loss_fusion', 'update_fusion', 'bias_fusion', 'scale_fusion']
NCCL = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'


@dataclass
class Planted:
    rule: str
    scene: Scene
    severity: str
    impact: tuple  # least and most, ps; None: the rule has no impact in time
    device: str = ''  # the end of the name of the first place's device; '' where the place is the host's
    form: str = 'xspace'
    explained: tuple = ()  # rules that this one must explain
    inside: tuple = ()  # of the first place: [start, end] within which it must lie, on the host's clock
    cut: float = 0  # the file ends after this share of it
    notes: dict = field(default_factory=dict)


def exactly(ps):
    return ps, ps


def about(ps, slack=1):
    """For figures that are rounded once on the way."""
    return ps - slack, ps + slack


def fused(chip, dur, names=None, **more):
    """One op after the other."""
    for name in names or FUSIONS:
        chip.op(f'{name}.1', dur, 'loop fusion', scope=f'{more.get("module", "jit_train_step")}/{name}', **more)


def train_tpu(scene, chip, steps, body):
    for n in range(steps):
        with chip.step(n), chip.module(run=n):
            body(n)
        chip.idle(30 * US)
    return scene


def kernels(loop, dur):
    for name in KERNELS:
        loop.launch(name, dur)


def train_gpu(loop, steps, body, dur=1200 * US):
    for n in range(steps):
        with loop.step(n):
            kernels(loop, dur)
            body(n)
            loop.drain()
    return loop.scene


# ---- F1 to F3, F8, F9, F14: idle and its cause ---------------------------------------------------


def device_idle():
    """Idle two fifths of the time in short regular gaps; no host says why."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        for i in range(20):
            chip.op(f'{FUSIONS[i % 10]}.1', 300 * US)
            chip.idle(200 * US)

    train_tpu(scene, chip, 12, body)
    b = measure.breakdown(chip.device)
    return Planted('F1', scene, 'high', about(b['idle_ps'] - b['window_ps'] // 20), 'TPU:0')


def long_gap():
    """Once in twenty steps nothing runs for 20 ms: 9 % of the window, the device is busy else."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(n):
        fused(chip, 1 * MS)
        if n == 11:
            chip.idle(20 * MS)

    train_tpu(scene, chip, 20, body)
    gap = chip.device.ops[119].end, chip.device.ops[120].start  # with the 30 µs after each step
    return Planted('F2', scene, 'medium', about(gap[1] - gap[0], 30 * US), 'TPU:0', explained=('F12',), inside=gap)


def host_bound(form='kineto'):
    """The thread takes 1.5 ms to prepare each launch of 1 ms of work."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(12):
        with loop.step(n):
            for name in KERNELS:
                loop.work('tokenize_batch', 1500 * US)
                loop.launch(name, 1 * MS)
    late = measure.host_late(loop.host, loop.device)
    return Planted('F3', loop.scene, 'high', exactly(late), 'GPU', form, explained=('F1',),
                   notes={'label': 'tokenize_batch'})


def garbage(form='kineto'):
    """gc.collect() of 2 ms after each step of 10 ms, when the device has nothing to do."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(12):
        with loop.step(n):
            kernels(loop, 1250 * US)
            loop.drain()
            loop.work(*(('<built-in function collect>', 2 * MS, 'python_function') if form == 'kineto' else
                        ('$gc collect', 2 * MS)))
    return Planted('F41', loop.scene, 'high', exactly(11 * 2 * MS), 'GPU', form, explained=('F1', 'F3'))


def checkpoints():
    """fsync of 4 ms after each third step."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            kernels(loop, 1250 * US)
            loop.drain()
            if n % 3 == 2 and n < 11:
                with loop.span('/app/train.py(40): save', 'python_function'):
                    loop.work('fsync', 4 * MS, 'user_annotation')
    return Planted('F42', loop.scene, 'medium', exactly(3 * 4 * MS), 'GPU', 'kineto', explained=('F1', 'F2', 'F3', 'F12'))


def overhead():
    """3,400 events of another thread in each step of 10 ms."""
    loop = GpuLoop(Scene())
    worker = loop.host.thread('worker')
    for n in range(6):
        with loop.step(n):
            worker.events += [Event('tick', loop.t + i * 2 * US, US, {}, 'cpu_op') for i in range(3400)]
            kernels(loop, 1250 * US)
            loop.drain()
    return Planted('F43', loop.scene, 'low', None, '', 'kineto')


def graph_breaks(frames=True):
    """Each step runs a compiled function in two parts."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            with loop.span('Torch-Compiled Region: 0/0'):
                kernels(loop, 600 * US)
            if frames:
                loop.work('/app/model.py(12): torch_dynamo_resume_in_forward_at_14', 20 * US, 'python_function')
            with loop.span('Torch-Compiled Region: 1/0'):
                kernels(loop, 650 * US)
            loop.drain()
    return Planted('F44', loop.scene, 'low', None, '', 'kineto')


def unused_autograd():
    """A fifth of each step evaluates with autograd; the rest trains."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            kernels(loop, 1250 * US)
            for i in range(4):
                loop.work('aten::linear', 500 * US, **{'Sequence number': 100 * n + i, 'Fwd thread id': 0})
            for i in range(4):
                loop.work('aten::linear', 200 * US, **{'Sequence number': 100 * n + 50 + i, 'Fwd thread id': 0})
            for i in range(4):
                loop.work('autograd::engine::evaluate_function: AddmmBackward0', 200 * US,
                          **{'Sequence number': 100 * n + 50 + i, 'Fwd thread id': 1})
            loop.drain()
    return Planted('F45', loop.scene, 'low', None, '', 'kineto')


def optimizer_loop():
    """40 parameters, 20 us for each, while the device is busy."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            kernels(loop, 1250 * US)
            with loop.span('Optimizer.step#Adam.step', 'user_annotation'):
                for _ in range(40):
                    loop.work('aten::add_', 20 * US)
            loop.drain()
    return Planted('F46', loop.scene, 'low', None, '', 'kineto')


def sync_call():
    """cudaStreamSynchronize returns 1 ms after the device is done."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            kernels(loop, 1 * MS)
            loop.work('cudaStreamSynchronize', max(loop.free.values()) + MS - loop.t, 'cuda_runtime')
    sync = [(e.start, e.end) for e in loop.thread.events if e.name == 'cudaStreamSynchronize']
    return Planted('F8', loop.scene, 'high', exactly(measure.length(measure.both(sync, measure.idle(loop.device)))),
                   'GPU', 'kineto')


def launch_bound():
    """Kernels of 4 µs, one launched every 20 µs: all idle time is the host's way to the next launch, the launch
    and what it takes until the kernel begins."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            for i in range(200):
                loop.work('aten::add_', 15 * US)
                loop.launch(KERNELS[i % 8], 4 * US, call_dur=5 * US, latency=1 * US)
    idle = sum(sum(p) for p in measure.idle_parts(loop.host, loop.device))
    return Planted('F9', loop.scene, 'high', exactly(idle), 'GPU', 'kineto', explained=('F1', 'F3'))


def back_to_back(form='kineto', call=5 * US, latency=3 * US, kernel=2 * US, per_step=400):
    """Kernels of 2 µs, launched one after the other without a pause in 5 µs each: the queue is always empty,
    and the time between two kernels is the launch call and what it takes until the kernel begins."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(12):
        with loop.step(n):
            for i in range(per_step):
                with loop.span('PjRtStreamExecutorLoadedExecutable::Execute' if form == 'xspace' else 'aten::add_'):
                    loop.launch(KERNELS[i % 8], kernel, call_dur=call, latency=latency)
    idle = sum(sum(p) for p in measure.idle_parts(loop.host, loop.device))
    return Planted('F9', loop.scene, 'high', exactly(idle), 'GPU', form, explained=('F1', 'F3'))


def small_graphs():
    """Recorded graphs of two kernels of 3 µs, launched back to back."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            for i in range(150):
                first = loop.launch(KERNELS[i % 8], 3 * US, call_dur=14 * US, latency=3 * US)
                loop.thread.events[-1].name = 'cudaGraphLaunch'
                first_end = loop.free[7]
                loop.device.ops.append(Op(KERNELS[(i + 1) % 8], first_end, 3 * US, stream=7,
                                          correlation=first.correlation))
                loop.free[7] = first_end + 3 * US
    idle = measure.idle_parts(loop.host, loop.device)
    return Planted('F9', loop.scene, 'high', exactly(sum(sum(p) for p in idle)), 'GPU', 'kineto',
                   explained=('F1', 'F3'))


def input_bound():
    """4 ms of DataLoader before every 8 ms of work, nothing prefetched."""
    loop = GpuLoop(Scene())
    name = 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'
    for n in range(12):
        with loop.step(n):
            loop.work(name, 4 * MS, 'user_annotation')
            kernels(loop, 1 * MS)
            loop.drain()
    waits = [(e.start, e.end) for e in loop.thread.events if e.name == name]
    return Planted('F14', loop.scene, 'high', exactly(measure.length(measure.both(waits, measure.idle(loop.device)))),
                   'GPU', 'kineto', explained=('F1',))


def infeed_bound():
    """A TPU that waits in infeed for 1.5 of 11.5 ms."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        chip.op('infeed.1', 1500 * US, 'infeed', 'copy', text='%infeed.1 = ((f32[128]{0}), token[]) infeed(token[] %t)')
        fused(chip, 1 * MS)

    train_tpu(scene, chip, 12, body)
    return Planted('F14', scene, 'high', exactly(12 * 1500 * US), 'TPU:0')


# ---- F4 to F7, F20: communication and copies -----------------------------------------------------


def exposed_comm(form='kineto'):
    """An all-reduce of 1.5 ms after 9.6 ms of compute; everything waits for it."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')

    def body(_):
        loop.after(7, of=20)
        loop.launch(NCCL, 1500 * US, stream=20, kind='communication')
        loop.after(20, of=7)

    train_gpu(loop, 12, body)
    return Planted('F4', loop.scene, 'high', exactly(12 * 1500 * US), 'GPU', form, explained=('F5',))


def poor_overlap():
    """0.6 ms of all-reduce in 10 ms, of which 0.2 ms hide: too little to call it exposed (4 %)."""
    loop = GpuLoop(Scene())

    def body(_):
        compute_end = loop.free[7]
        op = loop.launch(NCCL, 600 * US, stream=20, kind='communication')
        op.start = compute_end - 200 * US
        loop.free[20] = loop.free[7] = op.end

    train_gpu(loop, 12, body)
    b = measure.breakdown(loop.device)
    return Planted('F5', loop.scene, 'medium', about(b['comm_ps'] * 85 // 100 - b['overlap_comm_ps']), 'GPU', 'kineto')


def transfer_bound(form='kineto'):
    """1.4 ms host → device from pinned memory before each 9.6 ms of compute, on the same stream."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(12):
        with loop.step(n):
            loop.copy('h2d', 1400 * US, 16 << 20)
            kernels(loop, 1200 * US)
            loop.drain()
    return Planted('F6', loop.scene, 'high', exactly(12 * 1400 * US), 'GPU', form, notes={'direction': 'h2d'})


def cpu_transfers(name='H2D Dispatch', other=True, before=6 * MS, steps=12, work=400 * US, form='xspace'):
    """XLA on the CPU: its ops wait `before` for a copy of their input; on another thread, while the one that
    steps has nothing to say, or on its own."""
    scene = Scene()
    main, device = scene.host.thread('python'), scene.host.device('cpu')
    copier = scene.host.thread('tf_pjrt_thread_pool/77') if other else main
    t = 1 * MS
    for n in range(steps):
        since = t
        if not other or n % 2:
            t += 20 * US
        if n:
            copier.events.append(Event(name, t, before))
        t += before if n else 0
        main.events.append(Event('PjitFunction(train_step)', t, 30 * US))
        t += 30 * US
        for i, op in enumerate(FUSIONS):
            device.ops.append(Op(f'{op}.{i}', t, work, 'hlo', module='jit_train_step', program_id=3,
                                 stats={'run_id': n + 1}))
            t += work
        main.events.append(Event('train', since, t + 20 * US - since, {'step_num': n, '_r': 1}))
        t += 30 * US
    return Planted('F6', scene, 'high', exactly((steps - 1) * before), 'CPU', form, explained=('F1', 'F3', 'F8'))


HOST = '{0:T(1024)S(5)}'
HBM = '{0:T(1024)}'


def copy_pair(chip, n, to_host, between, wait, size=1 << 22):
    """copy-start, `between` of other work, copy-done that waits."""
    shape = f'f32[{size // 4}]'
    to, source = (HOST, HBM) if to_host else (HBM, HOST)
    pair = f'({shape}{to}, {shape}{source}, u32[])'
    chip.op(f'copy-start.{n}', 1 * US, 'copy-start', 'copy',
            text=f'%copy-start.{n} = {pair} copy-start({shape}{source} %p.{n})')
    between()
    chip.op(f'copy-done.{n}', wait, 'copy-done', 'copy',
            text=f'%copy-done.{n} = {shape}{to} copy-done({pair} %copy-start.{n})')


def offload_bound():
    """Offloaded weights come back 1.6 ms late in each step of 11.6 ms."""
    scene = Scene()
    chip = TpuChip(scene)
    train_tpu(scene, chip, 12, lambda _: copy_pair(chip, 1, False, lambda: fused(chip, MS), 1600 * US))
    return Planted('F6', scene, 'high', exactly(12 * 1601 * US), 'TPU:0', explained=('F20',),
                   notes={'direction': 'h2d'})


def pageable():
    """Twice 0.2 ms a step from pageable memory: 4 %, less than F6 asks for."""
    loop = GpuLoop(Scene())
    for n in range(12):
        with loop.step(n):
            loop.copy('h2d', 200 * US, 1 << 20, 'Pageable')
            loop.copy('h2d', 200 * US, 1 << 20, 'Pageable')
            kernels(loop, 1200 * US)
            loop.drain()
    return Planted('F7', loop.scene, 'medium', exactly(12 * 400 * US), 'GPU', 'kineto')


def async_done_wait():
    """1.6 ms of 11.6 in collective-permute-done."""
    scene = Scene()
    chip = TpuChip(scene)
    shape = 'f32[1048576]{0}'

    def body(_):
        chip.op('collective-permute-start.1', US, 'collective-permute-start', 'communication',
                text=f'%collective-permute-start.1 = ({shape}, {shape}, u32[], u32[]) '
                     f'collective-permute-start({shape} %p.1), source_target_pairs={{{{0,1}},{{1,0}}}}')
        fused(chip, MS)
        chip.op('collective-permute-done.1', 1600 * US, 'collective-permute-done', 'communication',
                text=f'%collective-permute-done.1 = {shape} collective-permute-done(({shape}, {shape}, u32[], u32[]) '
                     '%collective-permute-start.1)')

    train_tpu(scene, chip, 12, body)
    return Planted('F20', scene, 'high', exactly(12 * 1600 * US), 'TPU:0', explained=('F4',))


# ---- F10, F11: compilation -----------------------------------------------------------------------


def jax_steps(compiles, steps=12, helper=False):
    """A TPU driven by a JAX program; `compiles`: {step: ps}, −1 for before the first. helper: each step
    runs jit_scale first."""
    scene = Scene()
    thread = scene.host.thread('python')
    chip = TpuChip(scene, start=0)
    spans = []

    def call(n, at):
        compile_ps = compiles.get(n, 0)
        end = at + compile_ps + 200 * US
        thread.events.append(Event('PjitFunction(train_step)', at, end - at))
        if compile_ps:
            spans.append((at + 50 * US, at + 50 * US + compile_ps))
            thread.events.append(Event('backend_compile_and_load', at + 50 * US, compile_ps))
        thread.events.append(Event('TpuLoadedExecutable::Execute', end - 100 * US, 90 * US))
        return end

    t = 1 * MS
    if -1 in compiles:
        t = call(-1, t)
        chip.t = t
        with chip.module(run=-1):
            fused(chip, 100 * US)  # the call that compiled runs, too
        t = chip.t + 100 * US
    for n in range(steps):
        since = t
        if helper:
            chip.t = t
            with chip.module('jit_scale', 5, run=100 + n):
                chip.op('multiply.1', 5 * US, module='jit_scale', program_id=5)
            t = chip.t + 2 * US
        t = call(n, t)
        chip.t = t + 10 * US
        with chip.step(n), chip.module(run=n):
            fused(chip, 1 * MS)
        thread.events.append(Event('np.asarray(jax.Array)', t, chip.t + 20 * US - t))
        t = chip.t + 20 * US
        thread.events.append(Event('train', since, t - since, {'step_num': n, '_r': 1}))
        t += 10 * US
    return scene, chip, spans


def recompile():
    """train_step is compiled before the first step (5 ms) and again in step 6 (30 ms, after 50 µs of the call)."""
    scene, _, spans = jax_steps({-1: 5 * MS, 6: 30 * MS})
    return Planted('F10', scene, 'high', exactly(30 * MS + 50 * US), explained=('F2',), inside=spans[1],
                   notes={'function': 'train_step'})


def compile_share():
    """40 ms of compilation stand before 12 steps of 10 ms."""
    scene, _, spans = jax_steps({-1: 40 * MS})
    return Planted('F11', scene, 'high', exactly(40 * MS), inside=spans[0])


def compile_in_first_step(helper=False):
    """The first annotated step compiles train_step for 40 ms before anything of it runs; with a helper, a tiny
    module that each step runs before."""
    scene, chip, spans = jax_steps({0: 40 * MS}, helper=helper)
    chip.device.steps = []  # they are known by their annotation only
    return Planted('F11', scene, 'high', exactly(40 * MS), inside=spans[0])


def compile_without_annotations():
    """The same where nobody annotated a step: runs of the module are the steps."""
    scene, chip, spans = jax_steps({0: 40 * MS})
    chip.device.steps = []
    for thread in scene.host.threads:
        thread.events = [e for e in thread.events if 'step_num' not in e.stats]
    return Planted('F11', scene, 'high', exactly(40 * MS), inside=spans[0])


def compile_in_profiler_step(flavour='torch'):
    """torch.compile of 40 ms in the first ProfilerStep, before its first kernel; or JAX on a GPU."""
    loop = GpuLoop(Scene(), flavour=flavour)
    name = {'torch': 'entire_frame_compile', 'jax': 'backend_compile_and_load'}[flavour]
    for n in range(12):
        with loop.step(n):
            if n == 0:
                loop.work(name, 40 * MS)
            kernels(loop, 1200 * US)
            loop.drain()
    span, = [(e.start, e.end) for e in loop.thread.events if e.name == name]
    return Planted('F11', loop.scene, 'high', exactly(40 * MS), form='kineto' if flavour == 'torch' else 'xspace',
                   inside=span)


# ---- F12, F13: steps -----------------------------------------------------------------------------


def paced(durations):
    """One TPU step after the other, each ten ops of a tenth of its duration."""
    scene = Scene()
    chip = TpuChip(scene)
    train_tpu(scene, chip, len(durations), lambda n: fused(chip, durations[n] // 10))
    return scene, chip


def step_outlier():
    """Step 12 of 20 takes 30 ms instead of 10, and computes all the time."""
    scene, chip = paced([30 * MS if n == 12 else 10 * MS for n in range(20)])
    span = chip.device.steps[12]
    return Planted('F12', scene, 'medium', exactly(20 * MS), 'TPU:0', inside=(span.start, span.end + 30 * US))


def slow_before_window(form='kineto', within=20 * MS):
    """The first step takes 200 ms before the GPU's first op and `within` longer than the others after it: of
    what it loses only that lies in the window of the GPU."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(20):
        with loop.step(n):
            if n == 0:
                loop.work('load_checkpoint', 200 * MS)
            kernels(loop, 1200 * US + (within // len(KERNELS) if n == 0 else 0))
            loop.drain()
    return Planted('F12', loop.scene, 'low', about(within, 10 * US), 'GPU', form)


def jitter():
    """Steps of 8 to 12 ms without a pattern. The last has no following step: it is left out, with the
    first 24 around the median of 10: Σ of what is above it."""
    scene = Scene(seed=3)
    durations = [d * MS for d in (8, 9, 10, 11, 12)] * 5
    scene.random.shuffle(durations)
    _, chip = made = paced(durations + [10 * MS])
    return Planted('F13', made[0], 'medium', exactly(5 * (1 + 2) * MS), 'TPU:0', notes={'chip': chip.device.name})


# ---- F15, F16: devices ---------------------------------------------------------------------------


def imbalance():
    """Of four chips that run the same module, one computes 10 ms a step and three 7 ms."""
    scene = Scene()
    chips = [TpuChip(scene) for _ in range(4)]
    for n in range(12):
        since = chips[0].t
        for i, chip in enumerate(chips):
            chip.t = since
            with chip.step(n), chip.module(run=n):
                fused(chip, 1 * MS if i == 0 else 700 * US)
                chip.t = since + 10 * MS
            chip.idle(30 * US)
    lost = 12 * (10 * MS - (10 + 3 * 7) * MS // 4)
    return Planted('F15', scene, 'high', about(lost, lost // 100), 'TPU', explained=('F1',))


def uneven_gpus(form='xspace', runtime='cuda', wait='PjRtFuture<>::Await', slow=10 * MS, fast=6 * MS):
    """One thread feeds four GPUs and waits for all of them; GPU 0 computes `slow` a step, the others `fast`."""
    scene = Scene()
    loops = [GpuLoop(scene, runtime=runtime, flavour='torch' if form == 'kineto' else 'jax') for _ in range(4)]
    main = loops[0]
    for loop in loops[1:]:
        loop.thread = main.thread
    scene.host.threads = [main.thread]
    for n in range(12):
        with main.step(n):
            for i, loop in enumerate(loops):
                loop.t = main.t
                kernels(loop, (slow if i == 0 else fast) // len(KERNELS))
                main.t = loop.t
            done = max(max(loop.free.values()) for loop in loops)
            main.work(wait, done - main.t, f'{runtime}_runtime' if form == 'kineto' else 'cpu_op')
            for loop in loops:
                loop.t = main.t
    lost = 12 * (slow - (slow + 3 * fast) // 4)
    return Planted('F15', scene, 'high', about(lost, 1 * MS), 'GPU', form, explained=('F1', 'F3', 'F8'))


def step_to_all_reduce(chips, n, early, late, slow):
    """Step n, in which ten ops take `late` each on chip `slow` and `early` on the others, up to a common all-reduce."""
    since = chips[0].t
    done = since + 10 * late + 100 * US
    for i, chip in enumerate(chips):
        chip.t = since
        with chip.step(n), chip.module(run=n):
            fused(chip, late if i == slow else early)
            chip.all_reduce(done - chip.t, call=n + 1)
        chip.idle(30 * US)


def straggler(hosts=1, slow=2):
    """Chip `slow` of four reaches each all-reduce 0.6 ms after the others: balance would save 0.45 ms. With several hosts, the
    clock of the second is 5 ms fast and its capture began 3 ms later: relative and raw times would blame it."""
    scene = Scene(hosts=hosts)
    if hosts > 1:
        scene.hosts[1].clock_error = 2 * MS  # of its times relative to its own start: 5 ms fast − 3 ms later
        scene.hosts[1].start_ns += 3 * MS // 1000
    chips = [TpuChip(scene, scene.hosts[i * hosts // 4], start=10 * MS) for i in range(4)]
    for n in range(12):
        step_to_all_reduce(chips, n, 880 * US, 940 * US, slow)
    return Planted('F16', scene, 'medium', exactly(12 * 450 * US), 'TPU', explained=('F5',),
                   inside=(0, scene.host.last()),
                   notes={'host': scene.hosts[slow * hosts // 4].name, 'device': chips[slow].device.name})


def peer_waits():
    """Each of four chips in turn reaches the all-reduce 1.2 ms after the others, so each waits in 9 of 12 steps."""
    scene = Scene()
    chips = [TpuChip(scene, scene.host, start=10 * MS) for _ in range(4)]
    for n in range(12):
        step_to_all_reduce(chips, n, 880 * US, 1000 * US, n % 4)
    return Planted('F56', scene, 'medium', exactly(9 * 1200 * US), 'TPU', explained=('F5',),
                   inside=(0, scene.host.last()))


# ---- F17 to F19, F21, F24: ops -------------------------------------------------------------------


def hot_op(share=40):
    """One op takes `share` of every 100 parts of the time."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, (100 - share) * 10 * US)
        chip.op('flash_attention.1', share * 100 * US, 'custom-call',
                text='%flash_attention.1 = bf16[8,128]{1,0} custom-call(bf16[8,128]{1,0} %p.0), '
                     'custom_call_target="tpu_custom_call"')

    train_tpu(scene, chip, 12, body)
    return Planted('F17', scene, 'medium' if share >= 60 else 'low', None, 'TPU:0', notes={'op': 'flash_attention'})


def hot_op_in_layers(kind='tpu', layers=6):
    """One kernel of one shape in six layers: 45.9 % of the op time together, at most 7.7 % in each."""
    scene = Scene()
    if kind == 'tpu':
        chip = TpuChip(scene)

        def body(_):
            fused(chip, 541 * US)
            for i in range(layers):
                chip.op(f'flash_attention.{i}', 4590 * US // layers, 'custom-call', shape='bf16[8,128]{1,0}',
                        scope=f'jit(train_step)/layer_{i}/attn/flash_attention',
                        text=f'%flash_attention.{i} = bf16[8,128]{{1,0}} custom-call(bf16[8,128]{{1,0}} %p.{i}), '
                             'custom_call_target="tpu_custom_call"')

        train_tpu(scene, chip, 12, body)
        return Planted('F17', scene, 'low', None, 'TPU:0')
    loop = GpuLoop(scene, flavour='jax')
    for n in range(12):
        with loop.step(n):
            for i, name in enumerate(KERNELS):
                loop.launch(name.replace('flash', 'attn'), 5410 * US // 8, module='jit_step', program_id=7,
                            scope=f'jit(step)/{name}')
            for i in range(layers):
                loop.launch('flash_attention', 4590 * US // layers, module='jit_step', program_id=7,
                            scope=f'jit(step)/layer_{i}/attn/flash_attention')
            loop.drain()
    return Planted('F17', scene, 'low', None, 'GPU')


def op_variance():
    """Of ten calls a step nine take 50 µs and one 1.5 ms: (mean − p50) · n = 145 µs · 120. Kernels do not
    say how much they have to do each time, so that it is a hint only."""
    loop = GpuLoop(Scene())

    def body(_):
        for i in range(10):
            loop.launch('gather_rows', 1500 * US if i == 6 else 50 * US)

    train_gpu(loop, 12, body, 1 * MS)
    return Planted('F18', loop.scene, 'low', exactly(120 * 145 * US), 'GPU', 'kineto', notes={'op': 'gather_rows'})


def op_variance_of_one_shape():
    """The same on a TPU, where the op's shape is known: each call has the same work."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, 800 * US)
        for i in range(10):
            chip.op('gather.3', 1500 * US if i == 6 else 50 * US, 'gather fusion', shape='f32[4096,128]{1,0}',
                    text='%gather.3 = f32[4096,128]{1,0} gather(f32[65536,128]{1,0} %p.0, s32[4096]{0} %p.1)')

    train_tpu(scene, chip, 12, body)
    return Planted('F18', scene, 'medium', exactly(120 * 145 * US), 'TPU:0', notes={'op': 'gather'})


def data_formatting():
    """1.3 ms of transposes and 1.2 ms of layout copies in each 12.5 ms."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, 1 * MS)
        for name, dur in (('transpose', 1300 * US), ('copy', 1200 * US)):
            chip.op(f'{name}.1', dur, 'data formatting', scope=f'jit(train_step)/{name}',
                    text=f'%{name}.1 = bf16[128,1024]{{0,1}} {name}(bf16[128,1024]{{1,0}} %p.0)')

    train_tpu(scene, chip, 12, body)
    return Planted('F19', scene, 'high', exactly(12 * 2500 * US), 'TPU:0')


V6E = {'device_type_string': 'TPU v6 Lite', 'peak_teraflops_per_second': 918.0,
       'peak_hbm_bw_gigabytes_per_second': 1637.993152512}


def products(rule, of_peak, other=(), severity='low'):
    """Eight products a step that reach that part of 918 TFLOP/s, and other ops of 1 ms."""
    scene = Scene()
    chip = TpuChip(scene, stats=V6E)

    def body(_):
        for name in FUSIONS[:8]:
            chip.op(f'{name}.1', 1 * MS, 'convolution fusion',
                    stats={'model_flops': round(918e9 * of_peak), 'bytes_accessed': 1 << 20})
        for name, category in other:
            chip.op(name, 1 * MS, category)

    train_tpu(scene, chip, 12, body)
    return Planted(rule, scene, severity, None, 'TPU:0')


def unknown_cost():
    """Four custom calls of which nothing is known beside eight products near the peak."""
    return products('F33', 0.99, [(f'kernel_{c}.1', 'custom-call') for c in 'abcd'])


def debug_print():
    """0.9 ms of a host callback in each 10.9 ms."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, 1 * MS)
        chip.op('custom-call.9', 900 * US, 'custom-call', scope='jit(train_step)/debug_callback',
                text='%custom-call.9 = () custom-call(f32[] %p.0), custom_call_target="xla_python_cpu_callback"')

    train_tpu(scene, chip, 12, body)
    return Planted('F21', scene, 'medium', exactly(12 * 900 * US), 'TPU:0')


def debug_callback():
    """A GPU that waits for a Python callback of 0.9 ms in each step of 10.5 ms."""
    loop = GpuLoop(Scene(), flavour='jax')
    name = '$debugging.py:123 _flat_callback'
    for n in range(12):
        with loop.step(n):
            loop.work(name, 900 * US)
            kernels(loop, 1200 * US)
            loop.drain()
    calls = [(e.start, e.end) for e in loop.thread.events if e.name == name]
    return Planted('F21', loop.scene, 'medium', exactly(measure.length(measure.both(calls, measure.idle(loop.device)))),
                   'GPU:0')


def repeated_work():
    """Each step runs one module four times: 0.5 ms each, of 12 ms."""
    scene = Scene()
    chip = TpuChip(scene)
    for n in range(12):
        with chip.step(n):
            with chip.module(run=10 * n):
                fused(chip, 1 * MS)
            for k in range(4):
                with chip.module('jit_encode_prompt', 9, run=10 * n + k + 1):
                    fused(chip, 50 * US, module='jit_encode_prompt', program_id=9)
        chip.idle(30 * US)
    # the last step may be left out as one whose end is not known
    return Planted('F24', scene, 'medium', (11 * 1500 * US, 12 * 1500 * US), 'TPU:0',
                   notes={'module': 'jit_encode_prompt'})


# ---- F22, F23 ------------------------------------------------------------------------------------


def allocations(thread, total, peak, at=0, every=1 * MS):
    """A curve of ten allocations up to `peak` and back, by the BFC allocator of a GPU."""
    used = 0
    for i in range(20):
        size = peak // 10
        used += size if i < 10 else -size
        stats = {'bytes_reserved': 0, 'bytes_allocated': used, 'bytes_available': total - used,
                 'peak_bytes_in_use': max(used, peak if i >= 10 else 0), 'requested_bytes': size,
                 'allocation_bytes': size, 'addr': 4096 * (i % 10 if i < 10 else 19 - i), 'allocator_name': 'GPU_0_bfc',
                 'fragmentation': 0.1, 'index_on_host': 0}
        thread.events.append(Event('MemoryAllocation' if i < 10 else 'MemoryDeallocation', at + i * every, 0, stats))


def in_steps(made, stays, scattered=0.01, inputs=False, steps=12):
    """12 steps, each with 512 MiB that come and go; what `stays` says of a step is never given back."""
    loop, total, used = GpuLoop(Scene(), flavour='jax'), 80 << 30, [44 << 30]
    live = {}

    def event(name, size, address):
        used[0] += size
        stats = {'bytes_reserved': 0, 'bytes_allocated': used[0], 'bytes_available': total - used[0],
                 'peak_bytes_in_use': used[0], 'requested_bytes': abs(size), 'allocation_bytes': abs(size),
                 'addr': address, 'allocator_name': 'GPU_0_bfc', 'fragmentation': scattered, 'index_on_host': 0}
        loop.thread.events.append(Event(name, loop.t, 0, stats))

    def take(size, address):
        live[address] = size
        loop.t += US
        event('MemoryAllocation', size, address)
        loop.t += US

    def give(address):
        loop.t += US
        event('MemoryDeallocation', -live.pop(address), address)

    for n in range(steps):
        with loop.step(n):
            if inputs:
                with loop.span('DevicePut'):
                    take(2 << 30, 0x7000 + n)
            with loop.span('PjitFunction(train_step)'):
                take(512 << 20, 0x100)
                if stays(n):
                    take(stays(n), 0x1000 + n)
                kernels(loop, 1200 * US)
                loop.drain()
                give(0x100)
                if 0x7000 + n - 1 in live:
                    give(0x7000 + n - 1)
    return Planted(made, loop.scene, {'F30': 'medium', 'F31': 'medium', 'F32': 'low'}[made], None, '')


def memory_leak():
    """64 MiB a step that a list keeps."""
    return in_steps('F30', lambda n: 64 << 20)


def memory_scattered():
    """55 % in use, and of the other 45 % half in pieces."""
    return in_steps('F31', lambda n: 0, scattered=0.5)


def inputs_twice():
    """2 GiB of inputs that live on while the next come."""
    return in_steps('F32', lambda n: 0, inputs=True)


def memory_full(percent=95):
    loop = GpuLoop(Scene(), flavour='jax')
    train_gpu(loop, 12, lambda _: None)
    allocations(loop.thread, 80 << 30, (80 << 30) * percent // 1000 * 10)
    return Planted('F22', loop.scene, 'high' if percent >= 98 else 'medium', None, '', notes={'share': percent / 100})


def planned(rule, severity, values, temp_size=0):
    """A run of one program, whose plan is told."""
    loop = GpuLoop(Scene(), flavour='jax')
    train_gpu(loop, 12, lambda _: None)
    for o in loop.device.ops:
        o.module, o.program_id = 'jit_step', 3
    loop.scene.host.programs = [(3, 'jit_step', hlo.proto('jit_step', 3, values, temp_size))]
    return Planted(rule, loop.scene, severity, None, '')


class CpuLoop:
    """A thread launches runs of programs on a CPU device, and waits for them at the end of each step."""

    def __init__(self):
        self.scene = Scene()
        self.host = self.scene.host
        self.thread = self.host.thread('python')
        self.device = self.host.device('cpu')
        self.t, self.run = 0, 0

    def program(self, number, module, values):
        self.host.programs.append((number, module, hlo.proto(module, number, values, 0)))

    def launch(self, number, module, ops):
        """ops: (name, ps) each, one after the other; the next launch comes when they are done."""
        self.run += 1
        self.thread.events.append(Event('CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice', self.t, 10 * US))
        at = self.t + 10 * US
        for name, dur in ops:
            self.device.ops.append(Op(name, at, dur, 'hlo', module=module, program_id=number,
                                      stats={'run_id': self.run, 'device_ordinal': 0}))
            at += dur
        self.t = at

    def step(self, n, body):
        start = self.t
        body()
        self.thread.events.append(Event('train', start, self.t - start, {'_r': 1, 'step_num': n}))
        self.t += 10 * US


def double_precision():
    """8 of 10 ms of each step are in float64."""
    loop = CpuLoop()
    loop.program(3, 'jit_step', [hlo.Value('x.1', 'parameter', (1 << 20,), 'parameter', type=hlo.F64),
                                 hlo.Value('exp.2', 'exponential', (1 << 20,), 'temp', (0,), type=hlo.F64, freed_at=2),
                                 hlo.Value('out.3', 'negate', (64,), 'output')])
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', [('exp.2', 8 * MS), ('out.3', 2 * MS)]))
    return Planted('F47', loop.scene, 'high', exactly(8 * 4 * MS), 'CPU:0')


def looked_up(rows=4096, direction=hlo.EQUAL):
    """A program that multiplies a table by one-hot rows of `rows` columns: its values."""
    V = hlo.Value
    return [V('ids.1', 'parameter', (256,), 'parameter', type=hlo.S32), V('table.2', 'parameter', (rows, 64), 'parameter'),
            V('iota.3', 'iota', (256, rows), 'temp', type=hlo.S32, more=hlo.along(1), freed_at=4),
            V('ids.4', 'broadcast', (256, rows), 'temp', (0,), type=hlo.S32, freed_at=4),
            V('eq.5', 'compare', (256, rows), 'temp', (2, 3), type=hlo.PRED, more=direction, freed_at=5),
            V('one_hot.6', 'convert', (256, rows), 'temp', (4,), line=11, freed_at=6),
            V('dot.7', 'dot', (256, 64), 'output', (5, 1), line=12, more=hlo.contracting(1, 0)),
            V('exp.8', 'exponential', (256, 64), 'output', (0,), line=14)]


def one_hot():
    """6 of 10 ms of each step are a matmul with one-hot rows, 2 make these rows."""
    loop = CpuLoop()
    loop.program(3, 'jit_step', looked_up())
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', [('one_hot.6', 2 * MS), ('dot.7', 6 * MS), ('exp.8', 2 * MS)]))
    return Planted('F50', loop.scene, 'high', exactly(8 * 8 * MS), 'CPU:0')


def product(name, operands, line, scope='', more=hlo.contracting(1, 0), side=512):
    return hlo.Value(name, 'dot', (side, side), 'output', operands, line=line, scope=scope, more=more)


def square(name, side=512):
    return hlo.Value(name, 'parameter', (side, side), 'parameter')


def recomputation():
    """2 of 8 ms of each step are products of the forward pass that jax.checkpoint computes again."""
    scope = 'jit(step)/{}/block/dot_general'
    backward = 'transpose(jvp())/checkpoint'
    loop = CpuLoop()
    loop.program(3, 'jit_step', [square('x.1'), square('w.2'), product('dot.3', (0, 1), 9, scope.format('jvp()')),
                                 product('dot.4', (0, 1), 9, scope.format(backward + '/rematted_computation')),
                                 product('dot.5', (3, 2), 9, scope.format(backward)),
                                 product('dot.6', (2, 4), 9, scope.format(backward))])
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', [(f'dot.{i}', 2 * MS) for i in (3, 4, 5, 6)]))
    return Planted('F51', loop.scene, 'medium', exactly(8 * 2 * MS), 'CPU:0')


def loss_and_training(lines=(9, 9)):
    """A program with a forward and a backward pass, and one with a forward pass; both run in each step."""
    loop = CpuLoop()
    loop.program(3, 'jit_step', [square('x.1'), square('w.2'), product('dot.3', (0, 1), lines[0], 'jit(step)/jvp()/dot_general'),
                                 product('dot.4', (0, 2), lines[0], 'jit(step)/transpose(jvp())/dot_general')])
    loop.program(5, 'jit_loss', [square('x.1'), square('w.2'), product('dot.3', (0, 1), lines[1], 'jit(loss)/dot_general')])

    def body():
        loop.launch(5, 'jit_loss', [('dot.3', 2 * MS)])
        loop.launch(3, 'jit_step', [('dot.3', 2 * MS), ('dot.4', 3 * MS)])
    for n in range(8):
        loop.step(n, body)
    return loop.scene


def repeated_forward():
    """2 of 7 ms of each step compute a loss that the training step computes as well."""
    return Planted('F52', loss_and_training(), 'medium', about(8 * 2 * MS, 8 * 30 * US), 'CPU:0')


def small_products(n, chained=False, of=2):
    """n products of 32 x 32, each of the last one or of value `of`: 0 is an argument, 2 is computed."""
    values = [square('x.1', 32), square('w.2', 32), hlo.Value('neg.3', 'negate', (32, 32), 'output', (0,))]
    for i in range(n):
        values.append(product(f'dot.{i + 10}', (len(values) - 1 if chained and i else of, 1), 9, side=32))
    return values


def unrolled():
    """40 small products of equal shape take 200 µs of each step, one other op takes 100 µs."""
    loop = CpuLoop()
    values = small_products(40)
    loop.program(3, 'jit_step', [*values, hlo.Value('exp.9', 'exponential', (512, 512), 'output', (3,))])
    for n in range(8):
        loop.step(n, lambda: loop.launch(3, 'jit_step', [*((v.name, 5 * US) for v in values[3:]), ('exp.9', 100 * US)]))
    return Planted('F53', loop.scene, 'high', exactly(8 * 39 * 5 * US), 'CPU:0')


def small_programs():
    """Each step runs 10 programs of one op of 0.4 ms, and one large one of 4 ms."""
    loop = CpuLoop()
    for number, name in ((5, 'add'), (6, 'mul')):
        loop.program(number, f'jit_{name}', [hlo.Value('x.1', 'parameter', (1 << 16,), 'parameter'),
                                             hlo.Value(f'{name}.2', 'add', (1 << 16,), 'output', (0,))])
    loop.program(3, 'jit_step', [hlo.Value('x.1', 'parameter', (64,), 'parameter'),
                                 *(hlo.Value(f'dot.{i}', 'dot', (64,), 'output', (0,)) for i in range(3))])

    def body():
        for k in range(10):
            loop.launch(5 + k % 2, ('jit_add', 'jit_mul')[k % 2], [(('add.2', 'mul.2')[k % 2], 400 * US)])
        loop.launch(3, 'jit_step', [(f'dot.{i}', 1300 * US) for i in range(3)])
    for n in range(8):
        loop.step(n, body)
    return Planted('F48', loop.scene, 'high', about(8 * 3600 * US, 8 * 200 * US), 'CPU:0')


def evaluation():
    """Three of twelve steps evaluate for 10 ms; every step trains for 10 ms."""
    scene = Scene()
    chip = TpuChip(scene)
    for n in range(12):
        with chip.step(n):
            with chip.module(run=10 * n):
                fused(chip, 1 * MS)
            if n % 4 == 1:
                with chip.module('jit_evaluate', 9, run=10 * n + 1):
                    for k in range(4):
                        fused(chip, 250 * US, module='jit_evaluate', program_id=9)
        chip.idle(30 * US)
    return Planted('F49', scene, 'high', about(3 * 10 * MS, 100 * US), 'TPU:0')


def missing_donation():
    """64 MiB that die as a result of their shape is made."""
    state = hlo.Value('state.1', 'parameter', (1 << 24,), 'parameter')
    return planned('F36', 'low', [state, hlo.Value('fusion', 'negate', (1 << 24,), 'output', (0,))])


def padded_argument():
    """Rows of three numbers in tiles of 128."""
    rows = hlo.Value('rows.1', 'parameter', (1 << 17, 3), 'parameter', tiles=(8, 128))
    return planned('F37', 'medium', [rows, hlo.Value('reduce', 'reduce', (64,), 'output', (0,))])


def large_temporary():
    """Half of the peak is one value."""
    x = hlo.Value('x.1', 'parameter', (1 << 24,), 'parameter')
    kept = hlo.Value('exp.2', 'exponential', (1 << 24,), 'temp', (0,), line=12, scope='jit(step)/attention/exp', freed_at=2)
    return planned('F38', 'low', [x, kept, hlo.Value('reduce', 'reduce', (64,), 'output', (1,))], kept.size())


def planned_gaps():
    """16 of the 24 MiB for temporaries are in use at the peak."""
    x = hlo.Value('x.1', 'parameter', (1 << 24,), 'parameter')
    kept = hlo.Value('exp.2', 'exponential', (1 << 22,), 'temp', (0,), freed_at=2)
    return planned('F39', 'low', [x, kept, hlo.Value('reduce', 'reduce', (64,), 'output', (1,))], 24 << 20)


def waiting_state():
    """64 MiB of state that only the last of eight instructions reads, on a device of 80 MiB."""
    state = hlo.Value('state.1', 'parameter', (1 << 24,), 'parameter', line=7, scope="opt['mu']")
    values = [hlo.Value('x.1', 'parameter', (64,), 'parameter'), state]
    for i in range(7):
        values.append(hlo.Value(f'exp.{i}', 'exponential', (64,), 'temp', (len(values) - 1 if i else 0,), offset=i % 2 * 256,
                                freed_at=len(values) + 1))
    values.append(hlo.Value('reduce', 'reduce', (32,), 'output', (1, len(values) - 1)))
    made = planned('F40', 'low', values, 512)
    made.scene.host.devices[0].stats['memory_size'] = 80 << 20
    return made


def cut_short():
    """The host-bound run, of which a quarter is missing: no figure can be trusted, and that comes first."""
    made = host_bound()
    return Planted('F23', made.scene, 'high', None, '', 'kineto.gz', cut=0.75)


def unlinked():
    """A fifth of the kernels has no launch call, as where graphs were recorded."""
    loop = GpuLoop(Scene())
    train_gpu(loop, 12, lambda _: None)
    for i, o in enumerate(loop.device.ops):
        if i % 5 == 0:
            o.correlation = 0
    return Planted('F23', loop.scene, 'medium', None, '', 'kineto')


CASES = {
    'F1': device_idle, 'F2': long_gap, 'F3': host_bound, 'F3-jax': lambda: host_bound('xspace'),
    'F4': exposed_comm, 'F4-jax': lambda: exposed_comm('xspace'), 'F5': poor_overlap, 'F6': transfer_bound,
    'F6-jax': lambda: transfer_bound('xspace'), 'F6-tpu': offload_bound, 'F7': pageable, 'F8': sync_call,
    'F9': launch_bound, 'F10': recompile, 'F11': compile_share, 'F12': step_outlier, 'F13': jitter,
    'F14': input_bound, 'F14-tpu': infeed_bound, 'F15': imbalance, 'F16': straggler, 'F56': peer_waits,
    'F16-hosts': lambda: straggler(2, 1), 'F17': hot_op, 'F17-hotter': lambda: hot_op(65), 'F18': op_variance,
    'F18-tpu': op_variance_of_one_shape,
    'F6-cpu': cpu_transfers, 'F6-cpu-put': lambda: cpu_transfers('batched_device_put', False),
    'F6-cpu-asarray': lambda: cpu_transfers('np.asarray(jax.Array)', False),
    'F9-queue': back_to_back, 'F9-xla': lambda: back_to_back('xspace'), 'F9-graphs': small_graphs,
    'F9-latency': lambda: back_to_back('xspace', 5 * US, 4 * US, 2 * US),
    'F15-gpus': uneven_gpus, 'F15-torch': lambda: uneven_gpus('kineto', wait='cudaStreamSynchronize'),
    'F15-event': lambda: uneven_gpus('kineto', wait='cudaEventSynchronize'),
    'F15-rocm': lambda: uneven_gpus('xspace', 'hip', 'hipStreamSynchronize'),
    'F11-step': compile_in_first_step, 'F11-helper': lambda: compile_in_first_step(True),
    'F11-modules': compile_without_annotations, 'F11-torch': compile_in_profiler_step,
    'F11-gpu': lambda: compile_in_profiler_step('jax'),
    'F12-window': slow_before_window, 'F12-window-jax': lambda: slow_before_window('xspace'),
    'F17-layers': hot_op_in_layers, 'F17-gpu': lambda: hot_op_in_layers('gpu'),
    'F33': unknown_cost, 'F34': lambda: products('F34', 1.2, severity='medium'),
    'F35': lambda: products('F35', 0.5, severity='medium'),
    'F19': data_formatting, 'F20': async_done_wait, 'F21': debug_print, 'F21-host': debug_callback, 'F22': memory_full,
    'F22-full': lambda: memory_full(99), 'F30': memory_leak, 'F31': memory_scattered, 'F32': inputs_twice,
    'F36': missing_donation, 'F37': padded_argument, 'F38': large_temporary, 'F39': planned_gaps,
    'F40': waiting_state,
    'F43': overhead, 'F44': graph_breaks, 'F44-frames': lambda: graph_breaks(False), 'F45': unused_autograd,
    'F46': optimizer_loop,
    'F50': one_hot, 'F51': recomputation, 'F52': repeated_forward, 'F53': unrolled,
    'F47': double_precision, 'F48': small_programs, 'F49': evaluation,
    'F41': garbage, 'F41-jax': lambda: garbage('xspace'), 'F42': checkpoints,
    'F23': cut_short, 'F23-unlinked': unlinked, 'F24': repeated_work,
}
