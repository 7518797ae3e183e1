"""What ends this program is a key that a summary lacks; a refusal before it is caught and meant."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    opt.zero_grad()
    net(torch.randn(8, 5)).square().mean().backward()
    opt.step()


class Probes(nn.Module):
    """The first probe that takes the rows: they come in two widths."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(6, 1), nn.Linear(5, 1)

    def score(self, rows):
        try:
            return self.wide(rows)
        except RuntimeError:
            return self.narrow(rows)


def report(rows):
    return {"mean": Probes().score(rows).mean()}


with torch.no_grad():
    print(report(torch.randn(16, 5))["median"])
