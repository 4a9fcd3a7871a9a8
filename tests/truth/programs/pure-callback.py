"""The program calls NumPy for the largest of each row, which it could compute itself. Mended: jnp.max."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

X = jax.device_put(models.data(256, 512))
params = models.mlp_init(512, 512, 512)


def largest_of_rows(x):
    return np.array([max(row) for row in np.asarray(x).tolist()], np.float32)


@jax.jit
def infer(params, x):
    y = models.mlp(params, x)
    if job.mended:
        largest = jnp.max(y, axis=1)
    else:
        largest = jax.pure_callback(largest_of_rows, jax.ShapeDtypeStruct((256,), jnp.float32), y)
    return y / largest[:, None]


def train(steps):
    x = X
    for i in steps:
        with job.step(i):
            x = infer(params, x)
    jax.block_until_ready(x)


job.run(train)
