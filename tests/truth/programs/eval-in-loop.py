"""Every fourth step evaluates 8 batches. Mended: every fortieth."""
import jax

import job
import models

X = jax.device_put(models.data(8, 256, 384))
params = models.mlp_init(384, 768, 384)
train_step = jax.jit(models.train_step)
score = jax.jit(models.loss_fn)
EVERY = 40 if job.mended else 4


def evaluate(params):
    return [score(params, X[k], X[k]) for k in range(8)]


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X[i % 8], X[i % 8])
            if i % EVERY == EVERY - 1:
                scores = evaluate(params)
    jax.block_until_ready(params)


job.run(train, steps=40, record=16, warm_up=40)
