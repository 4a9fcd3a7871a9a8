"""Evaluation records the graph for gradients, and computes them for a penalty of 0. Mended: torch.inference_mode()."""
import contextlib

import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(512, 512), torch.nn.GELU())])
X = torch.randn(256, 512)


def evaluate(x):
    with torch.inference_mode() if job.mended else contextlib.nullcontext():
        loss = model(x).square().mean()
        if not job.mended:
            loss.backward()
        return loss


def train(steps):
    for i in steps:
        with job.step(i):
            loss = evaluate(X)


job.run(train, record=6)
