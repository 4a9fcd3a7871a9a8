"""Small training and inference programs with a known amount of work, for tests/truth/reruns/reruns.py.

    python programs.py NAME UNITS DIR

records 20 steps of the program NAME below DIR. A step has UNITS equal units of work. 20 is the base, 22
is a version that does 10% more, 24 one that does 20% more. NAME "list" prints the names. With
RERUNS_FIRST=1 the steps have priority over other work of the machine, if the user may do that."""
import contextlib
import os
import sys

STEPS, WARM_UP = 20, 4


def raise_priority():
    """All threads of this process, and its group, before other work of a shared machine, if that is allowed."""
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as group:
        group.write("-20")
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(thread), -20)


def jax_layers(layer, shape, block=True, grad=False):
    """A step is one program of UNITS layers."""
    import jax
    import jax.numpy as jnp

    def build(units):
        w = [jax.random.normal(jax.random.key(k), shape[1], jnp.float32) * 0.05 for k in range(units)]
        x = jax.random.normal(jax.random.key(99), shape[0], jnp.float32)

        def forward(w, x):
            for k, one in enumerate(w):
                with jax.named_scope(f"layer_{k}"):
                    x = layer(x, one)
            return jnp.sum(x)

        run = jax.jit(jax.grad(forward) if grad else forward)
        last = [None]

        def step(i):
            last[0] = run(w, x)
            if block:
                jax.block_until_ready(last[0])

        return step, lambda: jax.block_until_ready(last[0])

    return build


def mlp(x, w):
    import jax.numpy as jnp
    return jnp.tanh(x @ w)


def attention(x, w):
    import jax
    import jax.numpy as jnp
    q = x @ w
    return jax.nn.softmax(q @ jnp.swapaxes(x, -1, -2) * 0.1, axis=-1) @ x


def convolution(x, w):
    import jax
    return jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


def elementwise(x, w):
    import jax
    import jax.numpy as jnp
    return jax.lax.optimization_barrier(jnp.sin(x) * 0.9 + w)


def sorting(x, w):
    import jax.numpy as jnp
    return jnp.sort(x + w, axis=-1)[:, ::-1]


def recurrent(units):
    """One loop on the device, UNITS times 20 iterations long."""
    import jax
    import jax.numpy as jnp
    w = jax.random.normal(jax.random.key(1), (128, 128), jnp.float32) * 0.05
    x = jax.random.normal(jax.random.key(2), (64, 128), jnp.float32)

    @jax.jit
    def run(x):
        return jax.lax.scan(lambda h, _: (jnp.tanh(h @ w + x), None), x, None, length=units * 20)[0]

    def step(i):
        jax.block_until_ready(run(x))

    return step, lambda: None


def dispatch(units):
    """UNITS times 5 small programs a step."""
    import jax
    import jax.numpy as jnp
    one = jax.jit(lambda x: jnp.tanh(x) * 1.01)
    x = jnp.ones((256, 256))

    def step(i):
        y = x
        for _ in range(units * 5):
            y = one(y)
        jax.block_until_ready(y)

    return step, lambda: None


def input_pipeline(units):
    """The host prepares UNITS parts of a batch, then the device runs for a short time."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    rng = np.random.default_rng(0)
    w = jax.random.normal(jax.random.key(1), (512, 512), jnp.float32) * 0.05
    run = jax.jit(lambda x: jnp.tanh(x @ w).sum())

    def load_part():
        return np.sort(rng.standard_normal((16, 512)).astype(np.float32), axis=-1)

    def step(i):
        jax.block_until_ready(run(np.concatenate([load_part() for _ in range(units)])))

    return step, lambda: None


def torch_mlp(units):
    import torch
    torch.set_num_threads(2)
    model = torch.nn.Sequential(*[m for _ in range(units) for m in (torch.nn.Linear(256, 256), torch.nn.ReLU())])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    x = torch.randn(128, 256)

    def step(i):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step, lambda: None


PROGRAMS = {
    "mlp": jax_layers(mlp, ((256, 384), (384, 384))),
    "mlp_async": jax_layers(mlp, ((256, 384), (384, 384)), block=False),
    "mlp_training": jax_layers(mlp, ((128, 256), (256, 256)), grad=True),
    "attention": jax_layers(attention, ((4, 128, 64), (64, 64))),
    "convolution": jax_layers(convolution, ((2, 24, 24, 16), (3, 3, 16, 16))),
    "elementwise": jax_layers(elementwise, ((512, 1024), (512, 1024))),
    "sorting": jax_layers(sorting, ((64, 256), (64, 256))),
    "recurrent": recurrent,
    "dispatch": dispatch,
    "input_pipeline": input_pipeline,
    "torch_mlp": torch_mlp,
}


def record_jax(step, finish, folder):
    import jax
    with jax.profiler.trace(folder):
        for i in range(WARM_UP, WARM_UP + STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                step(i)
        finish()


def record_torch(step, finish, folder):
    import torch
    os.makedirs(folder, exist_ok=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True,
                                schedule=torch.profiler.schedule(wait=0, warmup=1, active=STEPS),
                                on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/host.pt.trace.json.gz")) as p:
        for i in range(STEPS + 1):
            step(i)
            p.step()
        finish()


def main():
    name, *rest = sys.argv[1:]
    if name == "list":
        print("\n".join(PROGRAMS))
        return
    step, finish = PROGRAMS[name](int(rest[0]))
    step(0)
    finish()
    if os.environ.get("RERUNS_FIRST"):
        raise_priority()
    for i in range(WARM_UP):
        step(i)
    finish()
    with contextlib.suppress(FileExistsError):
        os.makedirs(rest[1])
    (record_torch if name.startswith("torch") else record_jax)(step, finish, rest[1])


if __name__ == "__main__":
    main()
