"""Between two programs the host normalizes and sorts an activation with NumPy. Mended: one program does all."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

X = jax.device_put(models.data(512, 512))
params = models.mlp_init(512, 2048)
head = models.mlp_init(2048, 64)
encode, decode = jax.jit(models.mlp), jax.jit(models.mlp)


def normalize(h):
    h = np.asarray(h, np.float64)
    h = (h - h.mean(1, keepdims=True)) / (h.std(1, keepdims=True) + 1e-5)
    return np.clip(np.exp(-h * h), 0, 1).astype(np.float32)


@jax.jit
def together(params, head, x):
    h = models.mlp(params, x)
    h = (h - jnp.mean(h, 1, keepdims=True)) / (jnp.std(h, 1, keepdims=True) + 1e-5)
    return models.mlp(head, jnp.clip(jnp.exp(-h * h), 0, 1))


def train(steps):
    for i in steps:
        with job.step(i):
            y = together(params, head, X) if job.mended else decode(head, normalize(encode(params, X)))
    jax.block_until_ready(y)


job.run(train)
