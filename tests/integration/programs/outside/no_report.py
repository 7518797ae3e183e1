"""What ends this program has nothing to do with torch: a key that a summary of the evaluation lacks."""

import torch
from torch import nn


def summary(scores):
    return {"mean": float(scores.mean())}


def main():
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        net(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    with torch.no_grad():
        report = summary(net(torch.randn(8, 4)))
    print(report["median"])


main()
