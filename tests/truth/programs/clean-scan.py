"""Nothing to mend: equal layers are one lax.scan over stacked weights."""
import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(192, 512))
weights = jax.device_put(models.data(6, 512, 512) * 0.04)


@jax.jit
def train_step(weights, x):
    def loss_fn(weights):
        h, _ = jax.lax.scan(lambda h, w: (h + jnp.tanh(h @ w), None), x, weights)
        return jnp.mean(h ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(weights)
    return weights - 0.01 * grads, loss


def train(steps):
    global weights
    for i in steps:
        with job.step(i):
            weights, loss = train_step(weights, X)
    jax.block_until_ready(weights)


job.run(train)
