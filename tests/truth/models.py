"""A small network that several programs of tests/truth train."""
import jax
import jax.numpy as jnp
import numpy as np


def mlp_init(*sizes, dtype=None):
    rng = np.random.default_rng(3)
    return [{"w": jnp.asarray(rng.normal(0, a ** -0.5, (a, b)), dtype or jnp.float32), "b": jnp.zeros(b, dtype)}
            for a, b in zip(sizes, sizes[1:])]


def mlp(params, x):
    for k, layer in enumerate(params):
        with jax.named_scope(f"dense_{k}"):
            x = x @ layer["w"] + layer["b"]
            if k + 1 < len(params):
                x = jax.nn.relu(x)
    return x


def loss_fn(params, x, y):
    return jnp.mean((mlp(params, x) - y) ** 2)


def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


def data(*shape, seed=0):
    """Random float32 numbers, as NumPy array."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)
