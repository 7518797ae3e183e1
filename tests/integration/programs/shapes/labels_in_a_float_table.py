"""Boxes and labels stand in one table of floats: the labels alone are to be whole numbers."""

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
r = np.random.default_rng(0)
boxes = torch.from_numpy(np.concatenate([r.uniform(0, 0.9, size=(96, 4)), np.arange(96)[:, None] % 3], 1))
images = torch.randn(96, 12)
body = nn.Linear(12, 16)
where, what = nn.Linear(16, 4), nn.Linear(16, 3)
opt = torch.optim.SGD([*body.parameters(), *where.parameters(), *what.parameters()], lr=0.1)
for image, target in zip(images.split(32), boxes.split(32)):
    target = target.float()
    h = body(image).tanh()
    opt.zero_grad()
    loss = (where(h) - target[:, :4]).abs().mean()
    loss = loss + F.cross_entropy(what(h), target[:, 4])
    loss.backward()
    opt.step()
print(loss.item())
