"""Forecast of a river's level from the days before and a running mean."""

import random

import torch
from torch import nn


def measured(days):
    rng = random.Random(1)
    level, found = 0.0, []
    for _ in range(days):
        level = 0.8 * level + rng.gauss(0, 1)
        found.append(level)
    return found


def windows(levels):
    smooth = [sum(levels[max(0, i - 2) : i + 1]) / 3 for i in range(len(levels))]
    inputs, wanted = [], []
    for i in range(4, len(levels)):
        recent = smooth[i]
        inputs.append([levels[i - 1], levels[i - 2], levels[i - 3], recent])
        wanted.append(levels[i])
    return torch.tensor(inputs), torch.tensor(wanted)


torch.manual_seed(0)
x, y = windows(measured(600))
model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for _ in range(8):
    for rows in torch.randperm(len(x)).split(50):
        loss = (model(x[rows]).squeeze(1) - y[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item())
