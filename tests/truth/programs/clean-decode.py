"""Nothing to mend: decoding with a donated cache."""
import functools

import jax
import jax.numpy as jnp

import job
import models

WEIGHTS = jax.device_put(models.data(6, 1024, 1024) * 0.03)
cache = jnp.zeros((6, 512, 1024))
x = jax.device_put(models.data(4, 1024))


@functools.partial(jax.jit, donate_argnums=1)
def decode(weights, cache, x, position):
    for k in range(6):
        key = x @ weights[k]
        cache = jax.lax.dynamic_update_slice(cache, key[None, :1], (k, position, 0))
        x = 0.9 * x + 0.1 * jax.nn.softmax(key @ cache[k].T * 0.03) @ cache[k]
    return cache, x


def train(steps):
    global cache, x
    for i in steps:
        with job.step(i):
            cache, x = decode(WEIGHTS, cache, x, i % 512)
    jax.block_until_ready(x)


job.run(train)
