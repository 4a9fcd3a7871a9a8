"""A log of the memory collects garbage in each step, among 120,000 live objects. Mended: it does not collect."""
import gc
import resource

import jax

import job
import models

X = jax.device_put(models.data(128, 256))
params = models.mlp_init(256, 1024, 256)
train_step = jax.jit(models.train_step)
episodes = [{"state": [k], "reward": k} for k in range(60_000)]
memory = []


def log_memory():
    if not job.mended:
        gc.collect()
    memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, X)
            log_memory()
    jax.block_until_ready(params)


job.run(train)
