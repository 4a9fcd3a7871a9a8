"""Each step logs the norm of each weight, each read with float(). Mended: every fiftieth step."""
import json

import jax
import jax.numpy as jnp

import job
import models

X = jax.device_put(models.data(64, 256))
params = models.mlp_init(*[256] * 13)
train_step = jax.jit(models.train_step)
log = open("log.jsonl", "w")


def log_norms(i, params):
    norms = {f"layer{k}/{name}": float(jnp.linalg.norm(value))
             for k, layer in enumerate(params) for name, value in layer.items()}
    print(json.dumps({"step": i, **norms}), file=log, flush=True)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params, loss = train_step(params, X, X)
            if not job.mended or i % 50 == 49:
                log_norms(i, params)
    jax.block_until_ready(params)


job.run(train, steps=25, record=10)
