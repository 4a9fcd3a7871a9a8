"""Nothing to mend: inference with PyTorch in batches."""
import torch

import job

torch.set_num_threads(1)
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
X = torch.randn(8, 64, 256)


def train(steps):
    with torch.inference_mode():
        for i in steps:
            with job.step(i):
                y = model(X)


job.run(train, record=6)
