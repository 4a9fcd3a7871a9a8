"""Profiles that stay just below the limit of one rule, or look like its cause and are none: it must not fire."""
from .planted import (KERNELS, back_to_back, compile_in_profiler_step, cpu_transfers, fused, jax_steps, kernels,
                      slow_before_window, train_tpu, uneven_gpus)
from .scene import MS, US, GpuLoop, Scene, TpuChip


def flash(chip, n, size, dur):
    chip.op(f'flash_attention.{n}', dur, 'custom-call', shape=f'bf16[{size},128]{{1,0}}',
            scope=f'jit(train_step)/layer_{n}/attn/flash_attention',
            text=f'%flash_attention.{n} = bf16[{size},128]{{1,0}} custom-call(bf16[{size},128]{{1,0}} %p.{n}), '
                 'custom_call_target="tpu_custom_call"')


def two_shapes():
    """45.9 % of the op time in one name, of which no shape has 30 %: two ops."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, 541 * US)
        for n in range(6):
            flash(chip, n, 8 if n % 2 else 16, 765 * US)

    return train_tpu(scene, chip, 12, body), 'xspace'


def one_shape_below():
    """One shape in six layers with 29.9 %."""
    scene = Scene()
    chip = TpuChip(scene)

    def body(_):
        fused(chip, 7010 * US // 10)
        for n in range(6):
            flash(chip, n, 8, 2990 * US // 6)

    return train_tpu(scene, chip, 12, body), 'xspace'


def short_compile():
    """9.9 % of the capture is compiling in the first step."""
    scene, _, _ = jax_steps({0: 13 * MS})
    scene.host.stop = 13 * MS * 1000 // 99
    return scene, 'xspace'


def compile_later():
    """The same 40 ms in the second step are late: F10, not F11."""
    return jax_steps({1: 40 * MS})[0], 'xspace'


def short_torch_compile():
    made = compile_in_profiler_step()
    made.scene.host.thread('other').events.append(type(made.scene.host.threads[0].events[0])('idle', 0, 410 * MS))
    return made.scene, 'kineto'


def slow_outside(form='kineto'):
    """The first step is 200 ms slower than the others, all of it before the GPU's first op."""
    return slow_before_window(form, 0).scene, form


def nearly_even_gpus():
    """The busiest of four GPUs computes 9.8 % more than the mean."""
    return uneven_gpus(slow=8 * 1098 * US, fast=8 * 967 * US).scene, 'xspace'


def late_for_all():
    """Four equal GPUs stand still together while the thread prepares the next step: F3's, not F15's."""
    scene = Scene()
    loops = [GpuLoop(scene, flavour='jax') for _ in range(4)]
    scene.host.threads = [loops[0].thread]
    for loop in loops:
        loop.thread = scene.host.threads[0]
    for n in range(12):
        with loops[0].step(n):
            loops[0].work('tokenize_batch', 6 * MS)
            for a, b in zip(loops, loops[1:] + loops[:1]):
                kernels(a, 1 * MS)
                b.t = a.t
            loops[0].drain('PjRtFuture::Await')
    return scene, 'xspace'


def few_transfers(name='H2D Dispatch', other=True):
    """4.8 % of the window in copies."""
    return cpu_transfers(name, other, before=200 * US).scene, 'xspace'


def hidden_transfers():
    """Copies of 3 ms a step on another thread while the CPU device computes."""
    made = cpu_transfers(before=20 * US)
    for t in made.scene.host.threads:
        for e in t.events:
            if e.name == 'H2D Dispatch':
                e.start, e.dur = e.start + 30 * US, 3 * MS
    return made.scene, 'xspace'


def long_kernels():
    """Launched back to back with nothing queued, but kernels of 11 µs: not launch-bound by their size."""
    return back_to_back('xspace', 20 * US, 3 * US, 11 * US, 100).scene, 'xspace'


def nearly_keeping_up():
    """Kernels of 4.7 µs, launched every 5 µs with nothing queued: 6 % of the window."""
    return back_to_back('kineto', 5 * US, 1 * US, 4700_000).scene, 'kineto'


def full_queue(form='kineto'):
    """Kernels of 4 µs launched long before they run, with 1 µs between two on the device: no launch is late."""
    loop = GpuLoop(Scene(), flavour='torch' if form == 'kineto' else 'jax')
    for n in range(12):
        with loop.step(n):
            for i in range(400):
                loop.launch(KERNELS[i % 8], 4 * US, call_dur=2 * US, latency=2 * US)
                loop.free[7] += 1 * US
            loop.drain()
    return loop.scene, form


CASES = {  # name: (rule, scene and form)
    'F17 two shapes': ('F17', two_shapes), 'F17 below': ('F17', one_shape_below),
    'F11 below': ('F11', short_compile), 'F11 later': ('F11', compile_later), 'F11 torch below': ('F11',
                                                                                              short_torch_compile),
    'F15 below': ('F15', nearly_even_gpus), 'F15 late': ('F15', late_for_all),
    'F6 below': ('F6', few_transfers), 'F6 put below': ('F6', lambda: few_transfers('device_put', False)),
    'F6 hidden': ('F6', hidden_transfers),
    'F9 long': ('F9', long_kernels), 'F9 below': ('F9', nearly_keeping_up), 'F9 full': ('F9', full_queue),
    'F9 full jax': ('F9', lambda: full_queue('xspace')),
    'F12 outside': ('F12', slow_outside), 'F12 outside jax': ('F12', lambda: slow_outside('xspace')),
}
