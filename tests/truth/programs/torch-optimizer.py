"""Adam updates 80 small parameters one by one. Mended: fused=True."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(*[torch.nn.Linear(48, 48) for _ in range(40)])
settings = {"fused": True} if job.mended else {"foreach": False}
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, **settings)
X = torch.randn(16, 48)


def train(steps):
    for i in steps:
        with job.step(i):
            loss = model(X).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


job.run(train, record=5)
