"""Makes the profiles that the tests here read: real runs of the installed JAX on four host devices.
Run in a process of its own, since the number of devices is fixed when JAX starts."""
import os
import sys
import threading

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

STEPS = 3


@jax.jit
def train_step(x):
    with jax.named_scope("fresh_scope"):
        y = jnp.sort(x, axis=0)
    y = jax.lax.optimization_barrier(y)  # else all of it becomes one fusion
    with jax.named_scope("cheap_scope"):
        return (y + 1).sum()


def on_all_devices():
    mesh = Mesh(np.array(jax.devices()), ("i",))

    def body(v):
        return jax.lax.psum(v @ v.T, "i").sum() + jax.lax.all_gather(v, "i").sum() + v

    spec = PartitionSpec("i")
    fn = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec))
    x = jax.device_put(jnp.ones((256, 64)), NamedSharding(mesh, spec))
    return fn, x


def capture(directory, fn, x, python=0, session=None, threads=1):
    """One session of STEPS steps a thread."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = python
    if session:
        options.session_id = session

    def steps():
        for i in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                jax.block_until_ready(fn(x))

    jax.block_until_ready(fn(x))
    with jax.profiler.trace(directory, profiler_options=options):
        workers = [threading.Thread(target=steps) for _ in range(threads)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()


def main(root):
    x = jax.random.normal(jax.random.key(0), (256, 256))
    capture(f"{root}/plain", train_step, x)
    capture(f"{root}/python tracer ✓", train_step, x, python=1, threads=2)
    capture(f"{root}/named", train_step, x, session="step 100 #1")
    capture(f"{root}/named", train_step, x, session="step_200")
    capture(f"{root}/sharded", *on_all_devices())


if __name__ == "__main__":
    main(sys.argv[1])
