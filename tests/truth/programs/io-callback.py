"""The step calls back to Python, which updates a histogram of 100,000 numbers. Mended: every twentieth step."""
import jax
import numpy as np
from jax.experimental import io_callback

import job
import models

X = jax.device_put(models.data(200, 512))
params = models.mlp_init(512, 512, 512)
counts = np.zeros(64, np.int64)


def update_histogram(values):
    counts[:] += np.histogram(values, 64)[0]


def train_step(params, x, log):
    params, loss = models.train_step(params, x, x)
    if log:
        io_callback(update_histogram, None, models.mlp(params, x), ordered=True)
    return params, loss


train_step = jax.jit(train_step, static_argnames="log")


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, log=not job.mended or i % 20 == 19)
    jax.block_until_ready(params)


job.run(train, warm_up=20)
