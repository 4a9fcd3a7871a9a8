"""Nothing to mend: training with data on the device. The loss is read at the end."""
import jax

import job
import models

X = jax.device_put(models.data(256, 512))
params = models.mlp_init(512, 1024, 512)
train_step = jax.jit(models.train_step, donate_argnums=0)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, X)
    print(float(loss))


job.run(train)
