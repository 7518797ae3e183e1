"""Prices of flats: what is listed, beside what was paid."""

import random

import torch
from torch import nn


def read():
    rng = random.Random(0)
    flats = [{"code": rng.randrange(10**6), "size": rng.uniform(0, 2)} for _ in range(800)]
    paid = [{"code": f["code"], "price": 1.5 * f["size"]} for f in flats]
    return flats, paid


def load():
    flats, paid = read()
    flats = sorted(flats, key=lambda r: r["code"])
    inputs = torch.tensor([[r["size"], 1.0] for r in flats])
    prices = torch.tensor([r["price"] for r in paid])
    return inputs, prices


torch.manual_seed(0)
x, y = load()
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for _ in range(8):
    for rows in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item())
