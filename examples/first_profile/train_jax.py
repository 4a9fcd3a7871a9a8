"""A small training loop with JAX. Its batches have different lengths, like sentences."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

BATCH, WIDTH, STEPS, WARMUP = 32, 256, 24, 4


@jax.jit
def train_step(params, tokens):
    def loss(params):
        with jax.named_scope("encoder"):
            hidden = jnp.tanh(tokens @ params["encoder"])
        with jax.named_scope("decoder"):
            return jnp.mean((hidden @ params["decoder"] - tokens) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params))


def pad(tokens, multiple=128):
    missing = -tokens.shape[1] % multiple
    return np.pad(tokens, ((0, 0), (0, missing), (0, 0)))


def batches():
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        length = rng.integers(40, 120)  # the longest sentence of the batch
        tokens = rng.standard_normal((BATCH, length, WIDTH), dtype=np.float32)
        yield pad(tokens) if "--pad" in sys.argv else tokens


options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0  # Python's calls would make the profile 50 times as large
params = {"encoder": jnp.eye(WIDTH), "decoder": jnp.eye(WIDTH)}
for i, tokens in enumerate(batches()):
    if i == WARMUP:
        jax.profiler.start_trace("logs", profiler_options=options)
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        params = jax.block_until_ready(train_step(params, tokens))
jax.profiler.stop_trace()
