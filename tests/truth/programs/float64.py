"""jax_enable_x64 makes all matmuls float64. Mended: float32."""
import jax
import jax.numpy as jnp
import numpy as np

import job

jax.config.update("jax_enable_x64", not job.mended)
rng = np.random.default_rng(0)
WEIGHTS = jnp.asarray(rng.normal(0, 0.05, (6, 512, 512)))
signal = jnp.asarray(rng.normal(0, 1, (192, 512)))


@jax.jit
def filter_signal(weights, signal):
    for k in range(6):
        with jax.named_scope(f"stage_{k}"):
            signal = signal + 0.1 * jnp.maximum(signal @ weights[k], 0)
    return signal / jnp.max(jnp.abs(signal))


def train(steps):
    global signal
    for i in steps:
        with job.step(i):
            signal = filter_signal(WEIGHTS, signal)
    jax.block_until_ready(signal)


job.run(train)
