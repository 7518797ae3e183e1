"""A stage that is planned on the meta device, and used as it is when its time comes."""

import torch
from torch import nn


class Growing(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Linear(6, 6)])
        with torch.device("meta"):
            self.later = [nn.LayerNorm(6)]
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.out(x)


torch.manual_seed(0)
net = Growing()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    if step == 4:
        net.stages.append(net.later.pop())
    optimizer.zero_grad()
    net(torch.randn(8, 6)).square().mean().backward()
    optimizer.step()
