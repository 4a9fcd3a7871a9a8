"""The data comes from NumPy as float64, and so is the model. Mended: float32."""
import numpy as np
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
X = torch.from_numpy(np.random.default_rng(0).normal(size=(256, 512)))
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
if job.mended:
    X = X.float()
model = model.to(X.dtype)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train(steps):
    for i in steps:
        with job.step(i):
            loss = (model(X) - X).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


job.run(train, record=6)
