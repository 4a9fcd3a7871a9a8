"""Profiles the same work with annotations, without annotations, and on small inputs.

    python examples/python/comprehensive_profile_demo.py
    view_profile top --group scope profiles/comprehensive_profile/annotated
    view_profile compare profiles/comprehensive_profile/annotated profiles/comprehensive_profile/small
"""
import argparse
import contextlib

import jax
import jax.numpy as jnp

import view_profile as vp

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--size", type=int, default=2000)
parser.add_argument("--small-size", type=int, default=1024)
parser.add_argument("--iterations", type=int, default=3)
parser.add_argument("--output-dir", default="./profiles/comprehensive_profile")
parser.add_argument("--mode", choices=("all", "annotated", "simple", "small"), default="all")
args = parser.parse_args()


def computation(scope):
    """Three stages, each compiled separately, in the scopes that `scope` makes."""
    @jax.jit
    def multiply(x):
        with scope("multiply"):
            return x @ x.T

    @jax.jit
    def normalize(x):
        with scope("normalize"):
            return (x - x.mean()) / (x.std() + 1e-6)

    @jax.jit
    def reduce(x):
        with scope("reduce"):
            return jnp.tanh(x).sum()

    return multiply, normalize, reduce


def run(mode, size, annotated):
    stages = computation(jax.named_scope if annotated else lambda name: contextlib.nullcontext())
    zone = vp.annotate if annotated else lambda name, **more: contextlib.nullcontext()
    x = jax.random.normal(jax.random.key(0), (size, size))

    def iteration():
        y = x
        for stage in stages:
            with zone(stage.__name__, size=size):
                y = stage(y)
                y.block_until_ready()
        return y
    iteration()  # compiles
    with vp.profile(f"{args.output_dir}/{mode}") as profile:
        for i in range(args.iterations):
            with vp.step("iteration", i):
                total = iteration()
    print(f"{mode}: {float(total):.6g}, trace saved to {profile.run}")


for mode, size, annotated in (("annotated", args.size, True), ("simple", args.size, False), ("small", args.small_size, True)):
    if args.mode in ("all", mode):
        run(mode, size, annotated)
