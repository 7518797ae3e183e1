"""The energy of a loud window in half precision."""

import torch
from torch import nn

torch.manual_seed(0)
filters = nn.Linear(32, 8).half()
head = nn.Linear(8, 1)
optimizer = torch.optim.SGD([*filters.parameters(), *head.parameters()], 1e-3)
windows = torch.randn(60, 20, 32)
windows[30:] *= 300


def energies(h):
    power = (h * h).sum(1)
    return power / power.sum(-1, keepdim=True)


for rows in torch.arange(60).split(10):
    share = energies(filters(windows[rows].half()))
    loss = head(share.float()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
