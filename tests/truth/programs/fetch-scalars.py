"""200 scores are read with float() one by one. Mended: one copy of all of them."""
import jax
import jax.numpy as jnp
import numpy as np

import job
import models

X = jax.device_put(models.data(200, 512))
params = models.mlp_init(512, 512, 512)
score = jax.jit(lambda params, x: jnp.mean(models.mlp(params, x) ** 2, axis=1))


def collect_scores(scores):
    return np.asarray(scores).tolist() if job.mended else [float(s) for s in scores]


def train(steps):
    for i in steps:
        with job.step(i):
            best = max(collect_scores(score(params, X)))
    print(best)


job.run(train, steps=12, record=6)
