"""The loss for the log is computed by a forward pass of its own. Mended: value_and_grad returns it."""
import jax

import job
import models

X = jax.device_put(models.data(256, 512))
params = models.mlp_init(512, 1024, 1024, 512)
train_step = jax.jit(models.train_step)
loss_of = jax.jit(models.loss_fn)
losses = []


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            if not job.mended:
                losses.append(loss_of(params, X, X))
            params, loss = train_step(params, X, X)
            if job.mended:
                losses.append(loss)
    jax.block_until_ready((params, losses[-1]))


job.run(train)
