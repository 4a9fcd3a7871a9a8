"""The optimizer is not jitted: each of its operations is a program of its own. Mended: jax.jit(adam)."""
import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(128, 256))
params = models.mlp_init(256, 512, 512, 512, 256)
moments = [jax.tree.map(jnp.zeros_like, params) for _ in range(2)]
gradient = jax.jit(jax.grad(models.loss_fn))


def adam(params, moments, grads):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, moments[1], grads)
    params = jax.tree.map(lambda p, m, v: p - 0.001 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, [first, second]


if job.mended:
    adam = jax.jit(adam)


def train(steps):
    global params, moments
    for i in steps:
        with job.step(i):
            params, moments = adam(params, moments, gradient(params, X, X))
    jax.block_until_ready(params)


job.run(train)
