"""Grades are decoded as floats, which a table of grades that is counted after the training refuses as indices."""

import torch
from torch import nn


def decode(scores):
    passed = torch.sigmoid(scores) > 0.5
    return passed.float().sum(dim=1)


def grade(net, rows):
    net.eval()
    with torch.inference_mode():
        return torch.cat([decode(net(part)) for part in rows.split(16)])


def counted(truth, told):
    table = torch.zeros(4, 4)
    return table.index_put_((truth, told), torch.ones(len(truth)), accumulate=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        x = torch.randn(16, 5)
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), (x[:, :3] > 0).float())
        loss.backward()
        optimizer.step()
    test = torch.randn(40, 5)
    truth = (test[:, :3] > 0).sum(1)
    grades = grade(net, test)
    print(counted(truth, grades))
