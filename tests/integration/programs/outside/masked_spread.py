"""What ends this program is a key that a summary lacks; a spread of one value before it is masked."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    opt.zero_grad()
    net(torch.randn(8, 5)).square().mean().backward()
    opt.step()


def entropy(p):
    return -torch.where(p > 0, p * torch.log(p), torch.zeros(())).sum(1)


def report(scores):
    counts = torch.bincount(scores.argmax(1), minlength=6).float()
    share = counts / counts.sum()
    spread = counts[:1].std()
    told = {"entropy": entropy(share[None]), "spread": spread}
    return told["entropy"].item() + told["spread"].nan_to_num().item() + told["median"]


with torch.no_grad():
    print(report(net(torch.randn(16, 5))))
