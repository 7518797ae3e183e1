"""Two views a sample, side by side in the batch; the projections are paired by halves of the rows."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
signal = torch.randn(1024, 8) @ torch.randn(8, 24)


def two_views(rows):
    both = [signal[rows] + 0.3 * torch.randn(len(rows), 24) for _ in range(2)]
    return torch.stack(both, dim=1)


net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    order = torch.randperm(1024)
    for rows in order.split(64):
        views = two_views(rows)
        z = F.normalize(net(views.reshape(-1, 24)), dim=1)
        first, second = z.chunk(2)
        loss = F.cross_entropy(first @ second.t() / 0.2, torch.arange(len(rows)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
