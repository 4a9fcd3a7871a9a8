"""float(loss) waits for each step before the host prepares the next batch. Mended: the loss is read one step later."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

RAW = models.data(256, 1024)
losses = []


@jax.jit
def scan_step(state, x):
    """Long but serial: it uses one core."""
    def cell(h, row):
        h = jnp.tanh(h @ state + row)
        return h, h
    h, rows = jax.lax.scan(cell, jnp.zeros((4, 384)), x)
    loss = jnp.mean(rows ** 2)
    return state * (1 - 0.001 * loss), loss


state = jax.device_put(models.data(384, 384) * 0.05)


def augment(i):
    """About as long as a step of the device, on one core."""
    return np.sort(np.roll(RAW, i), axis=1)[:, :384].repeat(2, 0)[:400].reshape(100, 4, 384)


def train(steps):
    global state
    before = None
    for i in steps:
        with job.step(i):
            x = augment(i)
            state, loss = scan_step(state, x)
            if not job.mended:
                losses.append(float(loss))
            elif before is not None:
                losses.append(float(before))
            before = loss
    jax.block_until_ready(state)


job.run(train, record=8)
