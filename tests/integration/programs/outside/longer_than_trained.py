"""After the training a text is continued beyond the positions that the network has a row for."""

import torch
from torch import nn


class Letters(nn.Module):
    def __init__(self, letters=12, length=8, dim=16):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, dim), nn.Embedding(length, dim)
        self.out = nn.Linear(dim, letters)

    def forward(self, ids):
        where = torch.arange(ids.size(1))
        return self.out(self.letter(ids) + self.place(where)[None])


@torch.no_grad()
def continued(net, ids, more):
    for _ in range(more):
        following = net(ids)[:, -1].argmax(1)
        ids = torch.cat([ids, following[:, None]], dim=1)
    return ids


def main():
    torch.manual_seed(0)
    net = Letters()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(10):
        ids = torch.randint(0, 12, (16, 9))
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()
    print(continued(net, torch.randint(0, 12, (1, 4)), 10))


main()
