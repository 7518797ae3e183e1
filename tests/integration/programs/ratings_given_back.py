"""Ratings of films given back through a narrow middle; only films that someone rated count."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
taste, kind = torch.randn(400, 3), torch.randn(3, 40)
full = taste @ kind
seen = torch.rand(400, 40) < 0.3
ratings = full.masked_fill(~seen, 0.0)
net = nn.Sequential(nn.Linear(40, 16), nn.ReLU(), nn.Linear(16, 40))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(8):
    for idx in torch.randperm(400).split(25):
        given, known = full[idx].masked_fill(~seen[idx], 0.0), seen[idx]
        filled = torch.where(known, given, given.mean())
        loss = F.mse_loss(net(given)[known], given[known])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
