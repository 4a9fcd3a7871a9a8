"""A NumPy table of 48 MiB is an argument of each call and is uploaded each time. Mended: device_put, once."""
import jax
import jax.numpy as jnp

import job
import models

BIASES = models.data(48, 512, 512)
if job.mended:
    BIASES = jax.device_put(BIASES)
x = jax.device_put(models.data(512, 512))


@jax.jit
def attend(x, biases, i):
    for k in range(2):
        x = 0.5 * x + jax.nn.softmax(x @ x.T * 0.01 + biases[(i + k) % 48]) @ x
    return x


def train(steps):
    global x
    for i in steps:
        with job.step(i):
            x = attend(x, BIASES, i)
    jax.block_until_ready(x)


job.run(train)
