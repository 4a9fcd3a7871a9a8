"""Profiles that stay just below the limit of one rule, or look like its cause and are none: it must not fire."""
from .planted import compile_in_profiler_step, fused, jax_steps, slow_before_window, train_tpu
from .scene import MS, US, Scene, TpuChip


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


CASES = {  # name: (rule, scene and form)
    'F17 two shapes': ('F17', two_shapes), 'F17 below': ('F17', one_shape_below),
    'F11 below': ('F11', short_compile), 'F11 later': ('F11', compile_later), 'F11 torch below': ('F11',
                                                                                              short_torch_compile),
    'F12 outside': ('F12', slow_outside), 'F12 outside jax': ('F12', lambda: slow_outside('xspace')),
}
