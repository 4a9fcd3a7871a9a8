"""Each batch is as long as its longest text, so each step compiles. Mended: batches are padded to 256 positions."""
import jax
import numpy as np

import job
import models

TEXT = models.data(16, 256, 64)
params = models.mlp_init(64, 256, 64)
infer = jax.jit(models.mlp)


def next_batch(i):
    length = 20 + i  # each text is a little longer
    batch = TEXT[:, :length]
    return np.pad(batch, ((0, 0), (0, 256 - length), (0, 0))) if job.mended else batch


def train(steps):
    for i in steps:
        with job.step(i):
            x = next_batch(i)
            y = infer(params, x)
    jax.block_until_ready(y)


job.run(train, steps=4, record=5)
