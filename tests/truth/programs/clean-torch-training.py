"""Nothing to mend: training with PyTorch. The loss is read every tenth step."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
X = torch.randn(256, 512)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)


def train(steps):
    for i in steps:
        with job.step(i):
            loss = torch.nn.functional.mse_loss(model(X), X)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if i % 10 == 9:
                print(loss.item())


job.run(train, record=8)
