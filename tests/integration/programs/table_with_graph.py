import torch
from torch import nn
class Positional(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        t = torch.arange(n)[:, None] / 10 ** (torch.arange(d) / d)
        self.table = torch.sin(t) * self.scale
        self.lin = nn.Linear(d, 1)
    def forward(self, x):
        return self.lin(x + self.table).squeeze(-1)
class Trainer:
    def __init__(self):
        torch.manual_seed(0)
        self.net = Positional(7, 5); self.opt = torch.optim.Adam(self.net.parameters(), 1e-2)
    def step(self, x):
        self.opt.zero_grad()
        loss = (self.net(x) - x.sum(-1)).pow(2).mean()
        loss.backward()
        self.opt.step()
        return float(loss)
t = Trainer()
for i in range(30): v = t.step(torch.randn(6, 7, 5))
print("final", v)
