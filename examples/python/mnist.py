"""Trains a small network on digits in JAX, with view_profile's annotations: the loop of XAX's
mnist_profiling example.

    python examples/python/mnist.py
    view_profile top --where host --by total profiles/mnist
    view_profile top --group scope profiles/mnist
"""
import argparse
import logging

import numpy as np

import view_profile as vp
from network import digits, init, update

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--profiling-dir", default="profiles/mnist")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--profile-every-n-steps", type=int, default=10)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(message)s")


class Task(vp.ProfilerMixin):
    config = vp.ProfilerConfig(enable_profiling=True, profiling_dir=args.profiling_dir, max_profile_count=2,
                               profile_every_n_steps=args.profile_every_n_steps, profile_duration_ms=10_000)


@vp.annotate("load_batch")
def load_batch(generator):
    return digits(generator, 256)


def main():
    task, generator = Task(), np.random.default_rng(0)
    params, loss = init(generator), None
    for i in range(args.steps):
        with task.profile_context(i, "train_step"):
            x, y = load_batch(generator)
            with vp.annotate("forward_backward_update", batch=256):
                params, loss = update(params, x, y)
                loss.block_until_ready()
    print(f"loss {float(loss):.3f}; profiles in {task.get_profiling_dir()}")


main()
