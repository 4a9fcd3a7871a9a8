"""Python loops build the same attention mask in each step. Mended: it is built once."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

import job
import models

x = jax.device_put(models.data(448, 128))
weight = jax.device_put(models.data(128, 128) * 0.08)


def build_mask(length):
    mask = np.zeros((length, length), np.float32)
    for row in range(length):
        for column in range(row + 1, length):
            mask[row, column] = -1e9
    return mask


if job.mended:
    build_mask = functools.cache(build_mask)


@jax.jit
def attend(weight, x, mask):
    for _ in range(3):
        q = x @ weight
        x = 0.9 * x + 0.1 * jax.nn.softmax(q @ x.T * 0.01 + mask) @ x
    return x


def train(steps):
    global x
    for i in steps:
        with job.step(i):
            x = attend(weight, x, build_mask(448))
    jax.block_until_ready(x)


job.run(train)
