"""A JAX program without any use of view_profile:

    view_profile record -- python examples/python/plain_jax.py
"""
import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x, y):
    def loss(w):
        with jax.named_scope("encoder"):
            h = jnp.tanh(x @ w)
        with jax.named_scope("loss"):
            return jnp.mean((h - y) ** 2)
    return w - 0.01 * jax.grad(loss)(w)


w, x, y = jnp.ones((512, 512)), jnp.ones((256, 512)), jnp.zeros((256, 512))
for i in range(20):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        w = train_step(w, x, y)
w.block_until_ready()
