"""A JAX training loop that is profiled from outside: train_loop.py PORT [--late]. Says "ready" when its steps run, then
"step N" every 50; ends when its standard input does. With --late it compiles a new shape every few steps."""
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np


def main():
    port, late = int(sys.argv[1]), "--late" in sys.argv
    jax.profiler.start_server(port)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

    @jax.jit
    def step(w, x):
        def loss(w):
            with jax.named_scope("encoder"):
                h = jnp.tanh(x @ w)
            with jax.named_scope("decoder"):
                return jnp.mean((h @ w.T - x) ** 2)

        return w - 0.01 * jax.grad(loss)(w)

    w = jnp.asarray(np.random.default_rng(0).normal(size=(256, 256)) / 16, jnp.float32)
    number = rows = 0
    while not ended.is_set():
        if late:
            rows = 64 + number % 4096
        x = jnp.ones((rows or 512, 256), jnp.float32)
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            w = step(w, x).block_until_ready()
        number += 1
        if number == 3:
            print("ready", flush=True)


main()
