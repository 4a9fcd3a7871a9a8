"""Digits learnt by a small network in JAX, with view_profile's annotations: the loop of XAX's
mnist_profiling example.

    python examples/python/mnist.py
    view_profile top --where host --by total profiles/mnist
    view_profile top --group scope profiles/mnist
"""
import argparse
import logging

import jax
import jax.numpy as jnp
import numpy as np

import view_profile as vp

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--profiling-dir", default="profiles/mnist")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--profile-every-n-steps", type=int, default=10)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(message)s")


class Task(vp.ProfilerMixin):
    config = vp.ProfilerConfig(enable_profiling=True, profiling_dir=args.profiling_dir, max_profile_count=2,
                               profile_every_n_steps=args.profile_every_n_steps, profile_duration_ms=10_000)


def digits(generator, n):
    """Strokes of ten shapes with noise: no download."""
    labels = generator.integers(0, 10, n)
    grid = np.arange(28)
    images = generator.normal(0, 0.1, (n, 28, 28)).astype(np.float32)
    for i, label in enumerate(labels):
        images[i, (grid * (label + 1)) % 28, grid] += 1
    return images.reshape(n, 784), labels


def init(generator, sizes=(784, 256, 128, 10)):
    return [(jnp.asarray(generator.normal(0, (2 / a) ** 0.5, (a, b)), jnp.float32), jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]


def loss_of(params, x, y):
    for k, (w, b) in enumerate(params):
        with jax.named_scope(f"dense_{k}"):
            x = x @ w + b
            x = jax.nn.relu(x) if k + 1 < len(params) else x
    with jax.named_scope("loss"):
        return -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(y.shape[0]), y])


@jax.jit
def update(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    with jax.named_scope("sgd"):
        return [(w - 0.05 * a, b - 0.05 * c) for (w, b), (a, c) in zip(params, gradients)], loss


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
