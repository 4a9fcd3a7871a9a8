"""Makes the profile that test_jax_groups.py reads: collectives among parts of eight devices, which stand in the mesh
in an order of their own. Arguments: where, the mesh as JSON (device ids row by row), how often it runs."""
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def body(x):
    down = jax.lax.psum(x @ x, "down")
    along = jax.lax.psum(down @ x, "along")
    swapped = jax.lax.all_to_all(x, "down", 0, 0, tiled=True)
    return jax.lax.all_gather(along, "along", tiled=True).sum() + swapped


def main(root, order, steps):
    mesh = Mesh(np.array(jax.devices())[order], ("down", "along"))
    spec = PartitionSpec("down", "along")
    fn = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec))
    x = jax.device_put(jnp.ones((128, 256)), NamedSharding(mesh, spec))
    jax.block_until_ready(fn(x))
    with jax.profiler.trace(root):
        for _ in range(steps):
            jax.block_until_ready(fn(x))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]))
