"""A Python loop makes 64 small matmuls, one for each expert. Mended: one batched matmul."""
import jax
import jax.numpy as jnp

import job
import models

EXPERTS = jax.device_put(models.data(64, 32, 32) * 0.2)
x = jax.device_put(models.data(64, 16, 32))


@jax.jit
def apply_experts(experts, x):
    for _ in range(16):
        if job.mended:
            x = jnp.tanh(jnp.einsum("eij,ejk->eik", x, experts))
        else:
            x = jnp.stack([jnp.tanh(x[e] @ experts[e]) for e in range(64)])
    return x


def train(steps):
    global x
    for i in steps:
        with job.step(i):
            x = apply_experts(EXPERTS, x)
    jax.block_until_ready(x)


job.run(train, record=5)
