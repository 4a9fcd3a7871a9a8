"""A batch is 64 small columns, each uploaded alone. Mended: one array of all columns."""
import jax
import jax.numpy as jnp

import job
import models

COLUMNS = models.data(64, 512)
params = models.mlp_init(64, 256, 1)
train_step = jax.jit(models.train_step)
join = jax.jit(lambda columns: jnp.stack(columns, axis=1))
turn = jax.jit(jnp.transpose)


def upload_columns(columns):
    if job.mended:
        return turn(jax.device_put(columns))
    return join([jax.device_put(column) for column in columns])


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            x = upload_columns(COLUMNS)
            params, loss = train_step(params, x, x[:, :1])
    jax.block_until_ready(params)


job.run(train, record=6)
