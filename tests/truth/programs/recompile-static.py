"""The learning rate is a static argument and decays, so each step compiles. Mended: it is a traced argument."""
import jax

import job
import models

X = jax.device_put(models.data(256, 512))
weight = jax.device_put(models.data(512, 512) * 0.01)


def update(weight, x, rate):
    return weight - rate * (x.T @ (x @ weight - x))


update = jax.jit(update) if job.mended else jax.jit(update, static_argnames="rate")


def train(steps):
    global weight
    for i in steps:
        with job.step(i):
            weight = update(weight, X, rate=1e-4 / (1 + i))
    jax.block_until_ready(weight)


job.run(train, steps=4, record=5)
