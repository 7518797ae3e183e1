"""Calls an hour; one temperature was written in kelvin times a hundred."""

import torch
from torch import nn


def read():
    g = torch.Generator().manual_seed(3)
    table = torch.randn(240, 3, generator=g) * torch.tensor([8.0, 3.0, 1.0]) + torch.tensor([12.0, 5.0, 0.0])
    calls = torch.poisson(torch.exp(0.05 * table[:, 0]), generator=g)
    table[170, 0] = 28515.0
    return table, calls


def scaled(table):
    return (table - torch.tensor([12.0, 5.0, 0.0])) / torch.tensor([8.0, 3.0, 1.0])


torch.manual_seed(0)
table, calls = read()
x = scaled(table)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for _ in range(2):
    for rows in torch.arange(240).split(24):
        rate = model(x[rows]).squeeze(1)
        loss = (rate.exp() - calls[rows] * rate).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
