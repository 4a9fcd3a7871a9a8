"""The DataLoader has no workers: the training thread reads each sample. Mended: num_workers=2."""
import time

import torch

import job

torch.set_num_threads(1)


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, k):
        time.sleep(0.0005)  # the store answers
        return torch.full((256,), k % 10 / 10), torch.tensor(k % 10)


workers = {"num_workers": 2, "persistent_workers": True, "prefetch_factor": 4} if job.mended else {}
batches = iter(torch.utils.data.DataLoader(Samples(), batch_size=24, **workers))
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train(steps):
    for i in steps:
        with job.step(i):
            x, y = next(batches)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


job.run(train, record=8)
