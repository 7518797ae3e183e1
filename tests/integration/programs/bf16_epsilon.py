"""A focal loss whose epsilon is rounded away in bfloat16."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)).to(torch.bfloat16)
opt = torch.optim.SGD(net.parameters(), lr=0.5)


def focal(p, y):
    p = p.clamp(1e-6, 1 - 1e-6)
    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()


x = torch.randn(256, 4)
y = (x[:, :1] > 0).float()
x[:, 0] *= 6
for i in range(200):
    p = torch.sigmoid(net(x[i % 8 * 32 :][:32].bfloat16()) * 4)
    loss = focal(p, y[i % 8 * 32 :][:32].bfloat16())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
