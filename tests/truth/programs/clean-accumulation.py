"""Nothing to mend: gradients of four small batches are added in one program."""
import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(4, 96, 512))
params = models.mlp_init(512, 768, 512)


@jax.jit
def train_step(params, batches):
    def add(total, x):
        return jax.tree.map(jnp.add, total, jax.grad(models.loss_fn)(params, x, x)), None
    total, _ = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, params), batches)
    return jax.tree.map(lambda p, g: p - 0.0025 * g, params, total)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params = train_step(params, X)
    jax.block_until_ready(params)


job.run(train)
