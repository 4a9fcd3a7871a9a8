"""Pictures have their channels first, and each block moves them to the end and back. Mended: channels are last."""
import jax
import jax.numpy as jnp

import job
import models

WEIGHTS = jax.device_put(models.data(5, 64, 64) * 0.1)
PICTURES = jax.device_put(models.data(16, 64, 48, 48))


@jax.jit
def encode(weights, x):
    for k in range(5):
        with jax.named_scope(f"block_{k}"):
            if job.mended:
                x = x + jax.nn.relu(x @ weights[k])
            else:
                x = x + jnp.moveaxis(jax.nn.relu(jnp.moveaxis(x, 1, -1) @ weights[k]), -1, 1)
    return x


def train(steps):
    x = jnp.moveaxis(PICTURES, 1, -1) if job.mended else PICTURES
    for i in steps:
        with job.step(i):
            y = encode(WEIGHTS, x)
    jax.block_until_ready(y)


job.run(train, record=10)
