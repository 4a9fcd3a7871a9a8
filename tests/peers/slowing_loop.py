"""A JAX training loop that becomes slower when it is told to: slowing_loop.py PORT. Says "ready" when its steps run. A line on
its standard input makes the decoder's part of each step several times as much work; it ends when that input does."""
import functools
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np


def main():
    jax.profiler.start_server(int(sys.argv[1]))
    ended, slower = threading.Event(), threading.Event()

    def listen():
        for _ in sys.stdin:
            slower.set()
        ended.set()

    threading.Thread(target=listen, daemon=True).start()

    @functools.partial(jax.jit, static_argnums=2)
    def step(w, x, rounds):
        def loss(w):
            with jax.named_scope("encoder"):
                h = jnp.tanh(x @ w)
            with jax.named_scope("decoder"):
                for _ in range(rounds):
                    h = jnp.tanh(h @ w.T)
                return jnp.mean((h - x) ** 2)

        return w - 0.01 * jax.grad(loss)(w)

    w = jnp.asarray(np.random.default_rng(0).normal(size=(256, 256)) / 16, jnp.float32)
    x = jnp.ones((512, 256), jnp.float32)
    for rounds in (1, 15):
        step(w, x, rounds).block_until_ready()
    number = 0
    while not ended.is_set():
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            w = step(w, x, 15 if slower.is_set() else 1).block_until_ready()
        number += 1
        if number == 3:
            print("ready", flush=True)


main()
