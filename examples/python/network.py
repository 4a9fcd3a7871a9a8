"""The model of the examples: a small network on generated digits, so nothing is downloaded."""
import jax
import jax.numpy as jnp
import numpy as np


def digits(generator, n):
    """Ten line shapes with noise."""
    labels = generator.integers(0, 10, n)
    grid = np.arange(28)
    images = generator.normal(0, 0.1, (n, 28, 28)).astype(np.float32)
    for i, label in enumerate(labels):
        images[i, (grid * (label + 1)) % 28, grid] += 1
    return images.reshape(n, 784), labels


def init(generator, sizes=(784, 256, 128, 10)):
    return [(jnp.asarray(generator.normal(0, (2 / a) ** 0.5, (a, b)), jnp.float32), jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]


def forward(params, x):
    for k, (w, b) in enumerate(params):
        with jax.named_scope(f"dense_{k}"):
            x = x @ w + b
            x = jax.nn.relu(x) if k + 1 < len(params) else x
    return x


def loss_of(params, x, y):
    x = forward(params, x)
    with jax.named_scope("loss"):
        return -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(y.shape[0]), y])


@jax.jit
def update(params, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    with jax.named_scope("sgd"):
        return [(w - 0.05 * a, b - 0.05 * c) for (w, b), (a, c) in zip(params, gradients)], loss
