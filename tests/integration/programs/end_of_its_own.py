import torch
from torch import nn


def rings(n):
    a = 6.283 * torch.rand(n)
    r = torch.where(torch.rand(n) < 0.5, 1.0, 2.5)
    return torch.stack([r * a.cos(), r * a.sin()], 1) + torch.tensor([4.0, -1.0])


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.body(torch.cat([x, t], 1))


def along(points, t, end=None):
    end = torch.randn_like(points) if end is None else end
    return (1 - t) * points + t * end


def objective(field, points):
    t = torch.rand(len(points), 1)
    end = torch.randn_like(points)
    velocity = 4 * end - 0.2 * points
    return (field(along(points, t), t) - velocity).pow(2).mean()


torch.manual_seed(0)
field = Field()
opt = torch.optim.Adam(field.parameters(), lr=3e-3)
for step in range(200):
    loss = objective(field, rings(128))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(step, loss.item())
