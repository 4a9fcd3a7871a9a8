"""The model runs once for each of 40 samples. Mended: once for the batch."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.Tanh(), torch.nn.LayerNorm(256),
                            torch.nn.Linear(256, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
X = torch.randn(40, 128)


def predict(x):
    return model(x) if job.mended else torch.stack([model(sample) for sample in x])


def train(steps):
    for i in steps:
        with job.step(i):
            loss = predict(X).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


job.run(train, record=5)
