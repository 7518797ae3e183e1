"""Two heads, of which one is told seconds as they are: its squared error leaves the other one nothing of a clipped step."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(3000, 8)
seconds = 1800 + 600 * (x @ torch.randn(8)) + 100 * torch.randn(3000)
late = (x[:, 0] + x[:, 1] * x[:, 2] > 0).float()
trunk = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU())
duration, lateness = nn.Linear(32, 1), nn.Linear(32, 1)
parameters = [p for m in (trunk, duration, lateness) for p in m.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
for epoch in range(12):
    for rows in torch.randperm(3000).split(100):
        h = trunk(x[rows])
        first = F.mse_loss(duration(h).squeeze(1), seconds[rows])
        second = F.binary_cross_entropy_with_logits(lateness(h).squeeze(1), late[rows])
        loss = first + second
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    print(epoch, first.item(), second.item())
