"""A mask of 0 and 1 added as its logarithm; one row has nothing left."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 6)
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(100, 7, 6)
allow = (torch.rand(100, 7, 7) > 0.3).float()
allow[40, 3] = 0
for b in torch.randperm(100).split(10):
    s = net(x[b]) @ x[b].transpose(1, 2) + allow[b].log()
    loss = (s.softmax(-1) @ x[b] - x[b]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
