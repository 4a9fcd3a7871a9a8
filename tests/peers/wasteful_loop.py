"""A JAX training loop that is profiled, with a memory profile after each step: wasteful_loop.py DIR bad|mended

bad: the state is not donated to the step that replaces it, what a step computes is kept for ever, and a table has rows
of three numbers, which tiles of 128 pad. mended: none of these."""
import functools
import json
import pathlib
import sys

import jax
import jax.numpy as jnp

STEPS = 6
BAD = sys.argv[2] == 'bad'
history = []


@functools.partial(jax.jit, donate_argnums=() if BAD else (0,))
def step(state, batch, table):
    with jax.named_scope('encoder'):
        hidden = jnp.tanh(batch @ state)
    return state * 0.999 + hidden.mean() + table.sum(), hidden[:128] * 2


def remember(activation):
    history.append(activation)


def main(directory):
    directory.mkdir(parents=True)
    state = jnp.full((512, 1024), 1e-3, jnp.float32)
    table = jnp.full((131072, 3) if BAD else (3072, 128), 1e-6, jnp.float32)
    batch = jnp.full((256, 512), 0.5, jnp.float32)
    said = step.lower(state, batch, table).compile().memory_analysis()
    (directory / 'memory_analysis.json').write_text(json.dumps(
        {k: getattr(said, f'{k}_size_in_bytes') for k in ('argument', 'output', 'alias', 'temp')}))
    state, activation = step(state, batch, table)  # compiled before it is profiled
    jax.block_until_ready((state, activation))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    jax.profiler.start_trace(str(directory), profiler_options=options)
    run = []
    for n in range(STEPS):
        with jax.profiler.StepTraceAnnotation('train', step_num=n):
            state, activation = step(state, batch, table)
            jax.block_until_ready(state)
        if BAD:
            remember(activation)
        del activation
        run.append(jax.profiler.device_memory_profile())
    jax.profiler.stop_trace()
    trace, = directory.rglob('*.xplane.pb')
    for n, profile in enumerate(run):
        (trace.parent / f'step{n}.prof').write_bytes(profile)


main(pathlib.Path(sys.argv[1]))
