"""The distance to the stranger is to be the smaller one, by a margin."""

import torch
from torch import nn

torch.manual_seed(0)
centres = torch.randn(8, 12)
net = nn.Linear(12, 6)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)


def placed(kind):
    return nn.functional.normalize(net(centres[kind] + 0.3 * torch.randn(len(kind), 12)), dim=1)


for _ in range(60):
    kind = torch.randint(0, 8, (64,))
    stranger = (kind + torch.randint(1, 8, (64,))) % 8
    anchor, friend, other = placed(kind), placed(kind), placed(stranger)
    near, far = (anchor - friend).square().sum(1), (anchor - other).square().sum(1)
    gap = far - near + 0.5
    loss = nn.functional.relu(gap).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
