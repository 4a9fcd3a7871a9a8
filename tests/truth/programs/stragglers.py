"""Device 0 has the long texts: 7 of 8 parts of the work, and device 1 waits for it. Mended: 4 parts each."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import job
import models

MESH = Mesh(np.array(jax.devices()), "data")
PARTS = [4, 4] if job.mended else [7, 1]
parts = jax.device_put(np.array(PARTS, np.int32), NamedSharding(MESH, P("data")))
state = jax.device_put(models.data(8192), NamedSharding(MESH, P()))


@jax.jit
@functools.partial(jax.shard_map, mesh=MESH, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def rank_texts(state, parts):
    def rank(_, scores):
        return jnp.sort(jnp.sin(scores * 9))
    scores = jax.lax.fori_loop(0, 4 * parts[0], rank, state)
    return state + 0.001 * jax.lax.pmean(scores, "data")


def train(steps):
    global state
    for i in steps:
        with job.step(i):
            state = rank_texts(state, parts)
    jax.block_until_ready(state)


job.run(train)
