"""Nothing to mend: a recurrent network over 24 positions."""
import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(24, 64, 128))
params = {"in": jax.device_put(models.data(128, 256) * 0.05), "state": jax.device_put(models.data(256, 256) * 0.05)}


@jax.jit
def train_step(params, x):
    def loss_fn(p):
        def cell(h, row):
            h = jnp.tanh(row @ p["in"] + h @ p["state"])
            return h, None
        h, _ = jax.lax.scan(cell, jnp.zeros((64, 256)), x)
        return jnp.mean(h ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X)
    jax.block_until_ready(params)


job.run(train, record=6)
