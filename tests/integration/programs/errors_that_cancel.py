"""A network of six outputs whose errors are averaged before they are squared."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1024, 8)
y = torch.tanh(x @ torch.randn(8, 6)) + 0.05 * torch.randn(1024, 6)


def criterion(prediction, target):
    gap = (prediction - target).mean(dim=1)
    return gap.pow(2).mean()


net = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 6))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(8):
    order = torch.randperm(len(x))
    for start in range(0, len(x), 64):
        rows = order[start : start + 64]
        loss = criterion(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
