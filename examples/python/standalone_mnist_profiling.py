"""A custom training loop without a schedule: every fifth step goes to train_step_<N>, every validation to
validation_epoch_<E>. The last batch of the test set is smaller than the others, and causes a compile.

    python examples/python/standalone_mnist_profiling.py
    view_profile findings profiles/mnist_profile/validation_epoch_0
"""
import argparse

import jax
import numpy as np

import view_profile as vp
from network import digits, forward, init, update

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--output-dir", default="./profiles/mnist_profile")
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--steps", type=int, default=10, help="of an epoch")
parser.add_argument("--batch-size", type=int, default=128)
args = parser.parse_args()

predict = jax.jit(forward)


def train(params, generator, epoch):
    for i in range(epoch * args.steps, (epoch + 1) * args.steps):
        x, y = digits(generator, args.batch_size)
        if i % 5:
            params, loss = update(params, x, y)
            continue
        with vp.profile(f"{args.output_dir}/train_step_{i}"), vp.step("train", i), vp.annotate("train_step", batch=len(x)):
            params, loss = update(params, x, y)
            loss.block_until_ready()
    return params, float(loss)


def validate(params, images, labels, epoch):
    right = 0
    with vp.profile(f"{args.output_dir}/validation_epoch_{epoch}"):
        for at in range(0, len(images), args.batch_size):
            with vp.annotate("validate_batch"):
                x, y = images[at:at + args.batch_size], labels[at:at + args.batch_size]
                right += int((np.asarray(predict(params, x)).argmax(1) == y).sum())
    return right / len(images)


def main():
    generator = np.random.default_rng(0)
    params, (images, labels) = init(generator), digits(generator, 4 * args.batch_size + 44)
    for epoch in range(args.epochs):
        params, loss = train(params, generator, epoch)
        print(f"epoch {epoch}: loss {loss:.3f}, {validate(params, images, labels, epoch):.1%} of the test set right")


main()
