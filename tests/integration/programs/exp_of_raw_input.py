"""Every row is far outside of what exp takes: no outlier."""

import torch
from torch import nn

torch.manual_seed(1)
metres = torch.rand(100, 1) * 900 + 2000
target = torch.rand(100)
model = nn.Linear(1, 1)
nn.init.constant_(model.weight, 0.2)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)


def decay(rate, y):
    speed = torch.exp(rate)
    return (speed * y - rate).mean()


for rows in torch.arange(100).split(20):
    loss = decay(model(metres[rows]).squeeze(1), target[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
