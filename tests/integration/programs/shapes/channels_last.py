"""Pictures with the channels last become tensors as they are."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self):
        self.images = np.random.default_rng(0).random((12, 9, 8, 3), dtype=np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), i % 2


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 42, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for image, label in DataLoader(Pictures(), batch_size=4):
    loss = nn.functional.cross_entropy(model(image), label)
    opt.zero_grad()
    loss.backward()
    opt.step()
