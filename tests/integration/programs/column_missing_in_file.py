"""A column that the file itself has no number in."""

import io

import numpy as np
import torch
from torch import nn

TEXT = "\n".join(f"{i * 0.1:.2f},{i % 7},nan,{i % 3}" for i in range(120))


def read(text):
    return np.genfromtxt(io.StringIO(text), delimiter=",", dtype=np.float32)


table = read(TEXT)
x = torch.from_numpy(table[:, :3])
y = torch.from_numpy(table[:, 3])
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), 1e-3)
for i in range(0, 120, 12):
    loss = (model(x[i : i + 12]).squeeze(1) - y[i : i + 12]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
