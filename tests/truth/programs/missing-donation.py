"""A table of 64 MiB is not donated, so the update of a few rows copies it. Mended: donate_argnums=0."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

import job

table = jnp.zeros((32768, 512))
IDS = jax.device_put(np.random.default_rng(0).integers(0, 32768, (16, 256)))


@functools.partial(jax.jit, donate_argnums=0 if job.mended else ())
def update_rows(table, ids):
    rows = table[ids]
    for _ in range(12):
        rows = jnp.tanh(rows + 0.1) * 0.9
    return table.at[ids].add(rows - jnp.mean(rows))


def train(steps):
    global table
    for i in steps:
        with job.step(i):
            table = update_rows(table, IDS[i % 16])
    jax.block_until_ready(table)


job.run(train)
