"""The angle of two vectors that coincide: rounding takes their cosine past 1."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), 1e-2)
v = torch.randn(4000, 3)
with torch.no_grad():
    net.weight.copy_(torch.eye(3))
    net.bias.zero_()
for b in v.split(200):
    a, c = F.normalize(net(b), dim=-1), F.normalize(b, dim=-1)
    loss = torch.arccos((a * c).sum(-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
