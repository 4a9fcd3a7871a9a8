"""Each sample's prediction is read with .item(). Mended: one sum over the batch."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
X, Y = torch.randn(512, 128), torch.randint(0, 10, (512,))


def count_correct(logits, labels):
    best = logits.argmax(1)
    if job.mended:
        return (best == labels).sum().item()
    correct = 0
    for k in range(len(labels)):
        if best[k].item() == labels[k].item():
            correct += 1
    return correct


def train(steps):
    with torch.inference_mode():
        for i in steps:
            with job.step(i):
                correct = count_correct(model(X), Y)
    print(correct)


job.run(train, record=5)
