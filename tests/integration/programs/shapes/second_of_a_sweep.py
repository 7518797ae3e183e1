"""A sweep: the second configuration has a wrong width, and the first was trained under the same names."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, channels, features):
        super().__init__()
        self.conv = nn.Conv2d(1, channels, 3)
        self.out = nn.Linear(features, 3)

    def forward(self, x):
        return self.out(self.conv(x).relu().flatten(1))


torch.manual_seed(0)
for channels, features in ((4, 144), (8, 280)):
    net = Net(channels, features)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        x, y = torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16,))
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
