"""A layer is made on the meta device by its argument; a block elsewhere only counts parameters there."""

import torch
from torch import nn


def count():
    """How many parameters a large one would have."""
    with torch.device("meta"):
        big = nn.Linear(4096, 4096)
    return sum(p.numel() for p in big.parameters())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6, device="meta")
        self.out = nn.Linear(6, 1)

    def forward(self, x):
        return self.out(self.norm(self.body(x)))


torch.manual_seed(0)
print(count())
net = Net()
opt = torch.optim.SGD([*net.body.parameters(), *net.out.parameters()], lr=0.01)
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(8, 6)).square().mean().backward()
    opt.step()
