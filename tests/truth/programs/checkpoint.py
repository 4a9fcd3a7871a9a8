"""Every third step writes a checkpoint of 12 MiB on the training thread. Mended: every sixtieth."""
import os

import jax
import numpy as np

import job
import models

X = jax.device_put(models.data(128, 1024))
params = models.mlp_init(1024, 1536, 1024)
train_step = jax.jit(models.train_step)
EVERY = 60 if job.mended else 3


def save_checkpoint(params):
    with open("checkpoint.npy", "wb") as f:
        for layer in params:
            np.save(f, layer["w"])
        f.flush()
        os.fsync(f.fileno())


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, X)
            if i % EVERY == EVERY - 1:
                save_checkpoint(params)
    jax.block_until_ready(params)


job.run(train, steps=30, record=15)
