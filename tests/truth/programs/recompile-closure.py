"""The loop makes a jitted function in each step, and each one compiles. Mended: it is made once."""
import jax

import job
import models

X = jax.device_put(models.data(128, 256))
params = models.mlp_init(256, 512, 256)


def make_predict(scale):
    return jax.jit(lambda params, x: models.mlp(params, x) * scale)


predict = make_predict(0.5)


def train(steps):
    global predict
    for i in steps:
        with job.step(i):
            if not job.mended:
                predict = make_predict(0.5)
            y = predict(params, X)
    jax.block_until_ready(y)


job.run(train, steps=4, record=5)
