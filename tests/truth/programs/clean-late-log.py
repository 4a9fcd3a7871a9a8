"""Nothing to mend: every eighth step logs the loss of the step before."""
import jax

import job
import models

X = [jax.device_put(models.data(192, 512, seed=k)) for k in range(3)]
params = models.mlp_init(512, 768, 512)
train_step = jax.jit(models.train_step, donate_argnums=0)


def train(steps):
    global params
    before = None
    for i in steps:
        with job.step(i):
            x = X[i % 3]
            params, loss = train_step(params, x, x)
            if before is not None and i % 8 == 0:
                print(i - 1, float(before))
            before = loss
    jax.block_until_ready(params)


job.run(train, steps=24, record=18)
