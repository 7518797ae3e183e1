import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width, drop):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.GELU())
        self.drop = drop

    def skipped(self):
        return self.training and random.random() < self.drop

    def forward(self, x):
        if self.skipped():
            return x * 1.0
        return x + self.inner(x)


random.seed(1)
torch.manual_seed(0)
blocks = nn.ModuleList(Block(6, 0.3) for _ in range(3))
head = nn.Linear(6, 1)
optimizer = torch.optim.Adam([*blocks.parameters(), *head.parameters()], lr=1e-2)
for step in range(20):
    x = torch.randn(8, 6)
    h = x
    for block in blocks:
        h = checkpoint(block, h, use_reentrant=False)
    loss = (head(h).squeeze(-1) - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final", loss.item())
