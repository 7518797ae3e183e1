"""Two workers, each with a copy of one generator."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 64

    def __getitem__(self, index):
        noise = self.rng.normal(size=4).astype(np.float32)
        return torch.from_numpy(noise) + index % 2, index % 2


torch.manual_seed(0)
loader = DataLoader(Noisy(), batch_size=8, shuffle=True, num_workers=2)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.4f}")
