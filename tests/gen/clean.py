"""Profiles of programs that have nothing to repair: other platforms, shapes and noise, and none may get
a finding above low."""
from .planted import FUSIONS, KERNELS, NCCL, allocations, copy_pair, fused, jax_steps, kernels, planned, products
from . import hlo
from .scene import MS, US, Event, GpuLoop, Op, Scene, TpuChip


def torch_plain():
    """One GPU, one stream, launched ahead."""
    loop = GpuLoop(Scene(11))
    for n in range(15):
        with loop.step(n):
            loop.work('enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__', 80 * US, 'user_annotation')
            for name in KERNELS:
                loop.work('aten::linear', 20 * US)
                loop.launch(name, loop.scene.noise(1200 * US, 2))
            loop.drain()
    return loop.scene, 'kineto'


def torch_overlapped():
    """All-reduce and copies of pinned memory behind compute, on streams of their own."""
    loop = GpuLoop(Scene(12))
    for n in range(15):
        with loop.step(n):
            loop.copy('h2d', 300 * US, stream=22)
            for i, name in enumerate(KERNELS):
                loop.launch(name, loop.scene.noise(1 * MS, 1))
                if i in (3, 5):
                    loop.launch(NCCL, 700 * US, stream=20, kind='communication')
            loop.drain()
    return loop.scene, 'kineto'


def torch_no_steps():
    """A server: no annotation repeats, requests of many lengths."""
    loop = GpuLoop(Scene(13))
    for n in range(40):
        with loop.span('request ' + 'abcdefgh'[n % 8] + 'klmno'[n // 8], 'user_annotation'):
            kernels(loop, loop.scene.noise(600 * US, 30))
    return loop.scene, 'kineto'


def jax_gpu():
    """JAX on a GPU as XSpace, with memory at half."""
    loop = GpuLoop(Scene(14), flavour='jax')
    for n in range(15):
        with loop.step(n), loop.span('PjitFunction(train_step)'):
            for i, name in enumerate(KERNELS):
                loop.launch(name, loop.scene.noise(1200 * US, 2), module='jit_train_step', program_id=7,
                            scope=f'jit(train_step)/layer_{i}')
    allocations(loop.thread, 80 << 30, 40 << 30)
    return loop.scene, 'xspace'


def rocm():
    """Two AMD GPUs that one thread feeds."""
    scene = Scene(15)
    first, second = (GpuLoop(scene, runtime='hip', flavour='jax', thread=t) for t in ('tf_hip', 'idle'))
    second.thread = first.thread
    for n in range(10):
        with first.step(n):
            for loop, other in ((first, second), (second, first)):
                kernels(loop, scene.noise(900 * US, 3))
                loop.copy('d2h', 20 * US)
                other.t = loop.t
            for loop, other in ((first, second), (second, first)):
                loop.drain()
                other.t = max(loop.t, other.t)
    return scene, 'xspace'


def two_threads():
    """Two GPUs of one process, each fed by a thread with step annotations of its own."""
    scene = Scene(15)
    for _ in range(2):
        loop = GpuLoop(scene, runtime='hip', flavour='jax', thread='tf_hip')
        for n in range(10):
            with loop.step(n):
                kernels(loop, scene.noise(900 * US, 3))
                loop.drain()
    return scene


def tpu_one():
    """One chip with Steps, whose host clock jumps by 400 µs at every sync."""
    scene = Scene(16)
    chip = TpuChip(scene, offset=5 * MS, wander=400 * US)
    for n in range(20):
        with chip.step(n), chip.module(run=n):
            for name in FUSIONS:
                chip.op(f'{name}.{n}', scene.noise(1 * MS, 1), 'loop fusion', scope=f'jit(train_step)/{name}')
        chip.idle(40 * US)
    return scene, 'xspace'


def tpu_near_its_peak():
    """Products at 95 % of the peak, as the plane and the ops tell."""
    return products('', 0.95).scene, 'xspace'


def tpu_offload():
    """Offload copies to and from the host that finish behind compute."""
    scene = Scene(17)
    chip = TpuChip(scene)
    for n in range(15):
        with chip.step(n), chip.module(run=n):
            copy_pair(chip, 1, False, lambda: fused(chip, 500 * US), 10 * US)
            copy_pair(chip, 2, True, lambda: fused(chip, 500 * US), 10 * US)
        chip.idle(20 * US)
    return scene, 'xspace'


def tpu_four():
    """Four chips in step, small all-reduces, no Steps line: the module's runs are the steps."""
    scene = Scene(18)
    chips = [TpuChip(scene, offset=2 * MS) for _ in range(4)]
    for n in range(15):
        since = chips[0].t
        for chip in chips:
            chip.t = since
            with chip.module(run=n):
                fused(chip, scene.noise(1 * MS, 0.2))
                chip.all_reduce(since + 10100 * US - chip.t, call=n + 1)
            chip.idle(30 * US)
    return scene, 'xspace'


def tpu_hosts():
    """Two hosts with two chips each, whose clocks differ by 40 ms."""
    scene = Scene(19, hosts=2)
    scene.hosts[1].clock_error = 40 * MS
    chips = [TpuChip(scene, scene.hosts[i // 2]) for i in range(4)]
    for n in range(15):
        since = chips[0].t
        for chip in chips:
            chip.t = since
            with chip.step(n), chip.module(run=n):
                fused(chip, scene.noise(1 * MS, 0.2))
                chip.all_reduce(since + 10100 * US - chip.t, call=n + 1)
            chip.idle(30 * US)
    return scene, 'xspace'


def jax_host():
    """A JAX program on a TPU that compiled its function before the first step, briefly."""
    return jax_steps({-1: 4 * MS}, steps=20)[0], 'xspace'


def xla_cpu():
    """JAX on the CPU: ops on threads, steps by annotation."""
    scene = Scene(21)
    thread, device = scene.host.thread('python'), scene.host.device('cpu')
    t = 1 * MS
    for n in range(12):
        since = t
        thread.events.append(Event('PjitFunction(train_step)', t, 100 * US))
        t += 60 * US
        for i, name in enumerate(FUSIONS):
            dur = scene.noise(800 * US, 2)
            device.ops.append(Op(f'{name}.{i}', t, dur, 'hlo', module='jit_train_step', program_id=3))
            t += dur
        thread.events.append(Event('train', since, t + 20 * US - since, {'step_num': n, '_r': 1}))
        t += 30 * US
    values = [hlo.Value('x.1', 'parameter', (64,), 'parameter')]
    values += [hlo.Value(f'{name}.{i}', 'dot', (64,), 'output', (0,)) for i, name in enumerate(FUSIONS)]
    scene.host.programs = [(3, 'jit_train_step', hlo.proto('jit_train_step', 3, values))]
    return scene, 'xspace'


def short_but_busy():
    """Kernels of 5 µs that are launched faster than they run."""
    loop = GpuLoop(Scene(22))
    for n in range(10):
        with loop.step(n):
            for i in range(400):
                loop.launch(KERNELS[i % 8], 5 * US, call_dur=2 * US, latency=3 * US)
            loop.drain()
    return loop.scene, 'kineto'


def planned_well():
    """Plans: a donated argument, tiles that fit, a temporary that is small and fills its memory, all in a tenth of the device's."""
    state = hlo.Value('state.1', 'parameter', (1 << 24,), 'donated')
    rows = hlo.Value('rows.1', 'parameter', (1 << 16, 256), 'parameter', tiles=(8, 128))
    kept = hlo.Value('exp.2', 'exponential', (1 << 22,), 'temp', (0,), freed_at=3)
    new = hlo.Value('fusion', 'add', (1 << 24,), 'output', (0, 2))
    scene = planned('', '', [state, rows, kept, new], kept.size()).scene
    scene.host.devices[0].stats['memory_size'] = 2 << 30
    return scene, 'xspace'


CASES = {f.__name__: f for f in (torch_plain, torch_overlapped, torch_no_steps, jax_gpu, rocm, tpu_one, tpu_near_its_peak, tpu_offload,
                                 tpu_four, tpu_hosts, jax_host, xla_cpu, short_but_busy, planned_well)}
