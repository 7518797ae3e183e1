import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.a, self.b = nn.Linear(n, 3 * h), nn.Linear(h, 3 * h)
        self.h = h

    def forward(self, x, s):
        i, j, k = (self.a(x) + self.b(s)).chunk(3, -1)
        return torch.sigmoid(i) * s + torch.sigmoid(j) * torch.tanh(k)


torch.manual_seed(0)
cell, out = Cell(8, 48), nn.Linear(48, 1)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=1e-3)
x = torch.randn(320, 60, 8)
y = x.cumsum(1)[:, -1, :1] / 8
for epoch in range(4):
    for b in range(0, 320, 32):
        s = torch.zeros(32, 48)
        for t in range(60):
            s = cell(x[b:b + 32, t], s)
        loss = (out(s) - y[b:b + 32]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
