"""torch.compile sees a new length in each step and compiles for it. Mended: dynamic=True."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
torch._dynamo.config.recompile_limit = 1000
torch._dynamo.config.accumulated_recompile_limit = 1000
WEIGHT = torch.randn(512, 512) * 0.02


@torch.compile(backend="aot_eager", dynamic=job.mended)
def encode(x):
    for _ in range(4):
        x = torch.tanh(x @ WEIGHT) + x
    return x


def train(steps):
    with torch.no_grad():
        for i in steps:
            with job.step(i):
                y = encode(torch.ones(128 + i, 512))


job.run(train, steps=6, record=5, stack=False)
