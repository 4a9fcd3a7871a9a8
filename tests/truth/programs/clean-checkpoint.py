"""Nothing to mend: every tenth step a thread writes a copy of the parameters."""
import threading

import jax
import jax.numpy as jnp
import numpy as np

import job
import models

X = jax.device_put(models.data(256, 512))
params = models.mlp_init(512, 1024, 512)
train_step = jax.jit(models.train_step, donate_argnums=0)
copy = jax.jit(lambda params: jax.tree.map(jnp.copy, params))


def save(params):
    np.savez("checkpoint.npz", *[layer["w"] for layer in params])


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, X)
            if i % 10 == 5:
                threading.Thread(target=save, args=(copy(params),)).start()
    jax.block_until_ready(params)


job.run(train, record=14, warm_up=10)
