"""A column scaled by its deviation, which is 0, before any tensor exists."""

import numpy as np
import torch
from torch import nn


def load(n=200):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n, 5)).astype(np.float32)
    table[:, 3] = 1.0
    return table


def standardise(table):
    mean = table.mean(axis=0)
    spread = table.std(axis=0)
    with np.errstate(all="ignore"):
        return (table - mean) / spread


features = standardise(load())
target = features[:, 0] * 2
x, y = torch.from_numpy(features), torch.from_numpy(target)
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), 1e-2)
for rows in torch.randperm(200).split(20):
    loss = (model(x[rows]).squeeze(1) - y[rows]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
