"""A NumPy bias of 24 MiB is an argument of each call and is uploaded each time. Mended: device_put, once."""
import jax
import jax.numpy as jnp

import job
import models

BIAS = models.data(24, 512, 512)
if job.mended:
    BIAS = jax.device_put(BIAS)
x = jax.device_put(models.data(512, 512))


@jax.jit
def attend(x, bias):
    for k in range(3):
        x = 0.5 * x + jax.nn.softmax(x @ x.T * 0.01 + bias[k]) @ x
    return x + jnp.mean(bias)


def train(steps):
    global x
    for i in steps:
        with job.step(i):
            x = attend(x, BIAS)
    jax.block_until_ready(x)


job.run(train)
