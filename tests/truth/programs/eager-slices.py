"""A batch is stacked from 48 slices, each a program of its own. Mended: one jitted look-up."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

ROWS = jax.device_put(models.data(1024, 384))
IDS = np.random.default_rng(0).integers(0, 1024, (32, 48))
params = models.mlp_init(384, 768, 384)
train_step = jax.jit(models.train_step)
look_up = jax.jit(lambda rows, ids: rows[ids])


def gather_batch(ids):
    return look_up(ROWS, ids) if job.mended else jnp.stack([ROWS[k] for k in ids.tolist()])


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            x = gather_batch(IDS[i % 32])
            params, loss = train_step(params, x, x)
    jax.block_until_ready(params)


job.run(train, record=5)
