"""A JAX training loop that saves a memory profile after each step: leaking_loop.py DIR leak|mended"""
import pathlib
import sys

import jax
import jax.numpy as jnp

STEPS = 6
history = []


@jax.jit
def step(weights, batch):
    return weights + 0.01 * batch.mean(), batch * 2


def remember(state):
    history.append(jnp.array(state))


def main(directory, leak):
    weights = jnp.ones((512, 512))
    for n in range(STEPS):
        weights, activation = step(weights, jnp.full((256, 256), n, jnp.float32))
        if leak:
            remember(activation)
        del activation
        weights.block_until_ready()
        jax.profiler.save_device_memory_profile(str(directory / f'step{n}.prof'))


main(pathlib.Path(sys.argv[1]), sys.argv[2] == 'leak')
