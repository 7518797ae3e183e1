"""A softmax by hand, its mask a factor; one row has nothing left."""

import torch
from torch import nn

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(s, d):
        super().__init__()
        s.w = nn.Linear(d, 1)
        s.out = nn.Linear(d, 1)

    def forward(s, h, keep):
        e = torch.exp(s.w(h).squeeze(-1)) * keep
        a = e / e.sum(1, keepdim=True)
        return s.out((a[..., None] * h).sum(1)).squeeze(1)


net = Pool(8)
opt = torch.optim.Adam(net.parameters(), 1e-2)
h = torch.randn(200, 5, 8)
keep = (torch.rand(200, 5) > 0.3).float()
keep[77] = 0
for _ in range(3):
    for b in torch.randperm(200).split(20):
        loss = (net(h[b], keep[b]) - h[b].mean((1, 2))).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print("final loss", loss.item())
