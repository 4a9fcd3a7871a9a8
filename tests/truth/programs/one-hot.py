"""Embeddings are looked up by a matmul with one-hot rows, so their gradient is a dense matmul, too. Mended: indexing."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

TOKENS = jax.device_put(np.random.default_rng(0).integers(0, 8192, (8, 256)))
params = {"table": jax.device_put(models.data(8192, 128) * 0.1), "dense": models.mlp_init(128, 512, 128)}


def embed(table, tokens):
    return table[tokens] if job.mended else jax.nn.one_hot(tokens, 8192) @ table


@jax.jit
def train_step(params, tokens):
    def loss_fn(p):
        return jnp.mean(models.mlp(p["dense"], embed(p["table"], tokens)) ** 2)
    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, TOKENS[i % 8])
    jax.block_until_ready(params)


job.run(train)
