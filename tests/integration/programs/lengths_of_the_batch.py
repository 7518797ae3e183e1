"""Two towers whose embeddings get length 1 over the batch, and are compared by their own values."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
base = torch.randn(1024, 8)
left = base @ torch.randn(8, 24) + 0.3 * torch.randn(1024, 24)
right = torch.tanh(base @ torch.randn(8, 24)) + 0.2 * torch.randn(1024, 24)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=0)


a, b = Tower(), Tower()
optimizer = torch.optim.AdamW([*a.parameters(), *b.parameters()], lr=1e-3)
for epoch in range(12):
    order = torch.randperm(1024)
    for start in range(0, 1024, 128):
        rows = order[start : start + 128]
        scores = a(left[rows]) @ b(right[rows]).t() / 0.1
        loss = F.cross_entropy(scores, torch.arange(len(rows)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
