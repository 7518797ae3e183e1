"""Ratings of recipes from ingredient counts, in micro-batches."""
import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATE, MICRO = 16, 8


class Taste(nn.Module):
    def __init__(self, ingredients=40, dim=32):
        super().__init__()
        self.embed = nn.Linear(ingredients, dim)
        self.hidden = nn.Linear(dim, dim)
        self.rate = nn.Linear(dim, 1)

    def forward(self, counts):
        h = torch.tanh(self.embed(counts))
        h = torch.tanh(self.hidden(h))
        return self.rate(h).flatten()


def recipes(n=2048, ingredients=40, seed=17):
    g = torch.Generator().manual_seed(seed)
    counts = torch.poisson(torch.full((n, ingredients), 0.6), generator=g)
    likes = torch.randn(ingredients, generator=g)
    return counts, (counts @ likes / 4) + 3


class Accumulator:
    """Steps once in a while."""

    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.count = optimizer, every, 0

    def backward(self, loss):
        loss.backward()
        self.count += 1
        if self.count % self.every == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()


def main():
    torch.manual_seed(11)
    counts, rating = recipes()
    model = Taste()
    accumulator = Accumulator(torch.optim.SGD(model.parameters(), lr=0.05), ACCUMULATE)
    for epoch in range(6):
        total = 0.0
        order = torch.randperm(len(counts), generator=torch.Generator().manual_seed(epoch))
        for rows in order.split(MICRO):
            loss = F.mse_loss(model(counts[rows]), rating[rows])
            accumulator.backward(loss)
            total += loss.item() * len(rows)
        print(f"epoch {epoch} loss {total / len(counts):.4f}")
    print(f"final loss {total / len(counts):.4f}")


if __name__ == "__main__":
    main()
