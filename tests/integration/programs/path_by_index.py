import torch
from torch import nn
class Rollout(nn.Module):
    def __init__(self, d=3, h=8):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, d))
    def forward(self, x0, steps):
        path = torch.zeros(len(x0), steps, 3)
        path[:, 0] = x0
        for t in range(1, steps):
            path[:, t] = path[:, t - 1] + 0.1 * self.f(path[:, t - 1])
        return path
def fit():
    torch.manual_seed(0)
    net = Rollout(); opt = torch.optim.Adam(net.parameters(), 1e-2)
    for step in range(10):
        x0 = torch.randn(6, 3)
        loss = (net(x0, 5)[:, -1] - x0 * 0.5).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()
print(fit())
