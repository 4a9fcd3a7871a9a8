"""A small training loop with PyTorch. Its batches are prepared by the thread that trains."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

BATCH, STEPS = 32, 9
WORKERS = 4 if "--workers" in sys.argv else 0


class Images(Dataset):
    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        image = torch.rand(3, 64, 64, generator=torch.Generator().manual_seed(index))
        for _ in range(20):  # decoding and augmentation
            image = image.roll(1, dims=1) * 0.9 + image * 0.1
        return image, index % 10


device = "cuda" if torch.cuda.is_available() else "cpu"
activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(8),
    torch.nn.Flatten(), torch.nn.Linear(64 * 8 * 8, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(Images(), batch_size=BATCH, num_workers=WORKERS, pin_memory=device == "cuda")

with profile(activities=activities, schedule=schedule(wait=1, warmup=2, active=6),
             on_trace_ready=tensorboard_trace_handler("logs")) as profiler:
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        profiler.step()
