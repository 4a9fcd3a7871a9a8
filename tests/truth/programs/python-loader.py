"""Each step splits its lines into numbers of words, in Python. Mended: this is done once, before training."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

rng = np.random.default_rng(0)
WORDS = {f"word{k}": k for k in range(5000)}
LINES = [" ".join(f"word{k}" for k in rng.integers(0, 5000, 128)) for _ in range(2048)]
params = models.mlp_init(128, 256, 128)
train_step = jax.jit(models.train_step)


def tokenize(lines):
    rows = [[WORDS[word] for word in line.split()] for line in lines]
    return np.array(rows, np.float32) / 5000


TOKENS = tokenize(LINES)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            first = i % 4 * 512
            x = TOKENS[first:first + 512] if job.mended else tokenize(LINES[first:first + 512])
            params, loss = train_step(params, x, jnp.float32(0.5))
    jax.block_until_ready(params)


job.run(train, record=8)
