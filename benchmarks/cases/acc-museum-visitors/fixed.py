"""Which room of the museum does a visitor see next."""
import itertools

import torch
import torch.nn.functional as F
from torch import nn

ROOMS, PATH = 12, 6
SETTINGS = {"micro": 4, "every": 32, "lr": 0.02, "momentum": 0.9, "epochs": 10}


class NextRoom(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.room = nn.Embedding(ROOMS, dim)
        self.hidden = nn.Linear(PATH * dim, 48)
        self.next = nn.Linear(48, ROOMS)

    def forward(self, path):
        return self.next(torch.relu(self.hidden(self.room(path).flatten(1))))


def visits(n=3840, seed=50):
    g = torch.Generator().manual_seed(seed)
    path = torch.randint(0, ROOMS, (n, PATH), generator=g)
    step = torch.where(path[:, -2] % 2 == 0, 1, 5)
    return path, (path[:, -1] + step) % ROOMS


def micro_batches(path, nxt, size):
    for rows in torch.randperm(len(path)).split(size):
        yield path[rows], nxt[rows]


def train(model, data, settings):
    opt = torch.optim.SGD(model.parameters(), lr=settings["lr"], momentum=settings["momentum"])
    every = settings["every"]
    for epoch in range(settings["epochs"]):
        total, stream = [], micro_batches(*data, settings["micro"])
        while window := list(itertools.islice(stream, every)):
            opt.zero_grad()
            for path, nxt in window:
                loss = F.cross_entropy(model(path), nxt)
                (loss / every).backward()
                total.append(loss.item())
            opt.step()
        mean = sum(total) / len(total)
        print(f"epoch {epoch} loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    torch.manual_seed(12)
    print(f"final loss {train(NextRoom(), visits(), SETTINGS):.4f}")
