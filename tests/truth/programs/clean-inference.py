"""Nothing to mend: inference of batches. The answer of the batch before is read while the next one runs."""
import jax
import numpy as np

import job
import models

REQUESTS = [jax.device_put(models.data(256, 512, seed=k)) for k in range(4)]
params = models.mlp_init(512, 768, 768, 128)
infer = jax.jit(models.mlp)


def train(steps):
    before = None
    for i in steps:
        with job.step(i):
            y = infer(params, REQUESTS[i % 4])
            if before is not None:
                answer = np.asarray(before)
            before = y
    np.asarray(before)


job.run(train)
