"""Four devices gather 32 MiB of activations to find one maximum. Mended: pmax of the local maximum."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import job
import models

MESH = Mesh(np.array(jax.devices()), "data")
x = jax.device_put(models.data(4096, 2048), NamedSharding(MESH, P("data")))
weight = jax.device_put(models.data(2048, 64) * 0.02, NamedSharding(MESH, P()))


@jax.jit
@functools.partial(jax.shard_map, mesh=MESH, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def scaled_update(weight, x):
    if job.mended:
        largest = jax.lax.pmax(jnp.max(x), "data")
    else:
        largest = jnp.max(jax.lax.all_gather(x, "data", tiled=True))
    hidden = jnp.tanh(x / largest @ weight)
    return weight - 1e-6 * jax.lax.pmean(x.T @ hidden, "data")


def train(steps):
    global weight
    for i in steps:
        with job.step(i):
            weight = scaled_update(weight, x)
    jax.block_until_ready(weight)


job.run(train, record=10)
