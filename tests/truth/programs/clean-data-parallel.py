"""Nothing to mend: four devices train on equal shards and average their gradients."""
import functools

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import job
import models

MESH = Mesh(np.array(jax.devices()), "data")
X = jax.device_put(models.data(1024, 384), NamedSharding(MESH, P("data")))
params = jax.device_put(models.mlp_init(384, 384, 384), NamedSharding(MESH, P()))


@jax.jit
@functools.partial(jax.shard_map, mesh=MESH, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def train_step(params, x):
    grads = jax.lax.pmean(jax.grad(models.loss_fn)(params, x, x), "data")
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


def train(steps):
    global params
    for i in steps:
        with job.step(i):
            params = train_step(params, X)
    jax.block_until_ready(params)


job.run(train, record=10)
