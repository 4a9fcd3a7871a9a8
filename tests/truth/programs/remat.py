"""jax.checkpoint computes all layers again in the backward pass, though memory is free. Mended: without it."""
import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(256, 512))
weights = jax.device_put(models.data(6, 512, 512) * 0.04)


def block(x, w):
    with jax.named_scope("block"):
        return x + jax.nn.relu(x @ w), None


if not job.mended:
    block = jax.checkpoint(block)


@jax.jit
def train_step(weights, x):
    def loss_fn(weights):
        h, _ = jax.lax.scan(block, x, weights)
        return jnp.mean(h ** 2)
    return weights - 0.001 * jax.grad(loss_fn)(weights)


def train(steps):
    global weights
    for i in steps:
        with job.step(i):
            weights = train_step(weights, X)
    jax.block_until_ready(weights)


job.run(train, record=8)
