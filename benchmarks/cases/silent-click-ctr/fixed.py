import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


class FactorizationMachine(nn.Module):
    def __init__(self, field_sizes, k=8):
        super().__init__()
        total = sum(field_sizes)
        self.register_buffer("offset", torch.tensor(np.cumsum([0] + field_sizes[:-1])))
        self.lin = nn.Embedding(total, 1)
        self.fac = nn.Embedding(total, k)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.normal_(self.fac.weight, std=0.1)
        nn.init.zeros_(self.lin.weight)

    def forward(self, fields):
        ids = fields + self.offset
        v = self.fac(ids)
        pair = 0.5 * (v.sum(1) ** 2 - (v ** 2).sum(1)).sum(1)
        score = self.bias + self.lin(ids).sum((1, 2)) + pair
        return score


def impressions(n, rng, effects, cross):
    a, b, c = rng.integers(0, 20, n), rng.integers(0, 30, n), rng.integers(0, 10, n)
    z = -2.2 + effects[0][a] + effects[1][b] + effects[2][c] + cross[a, c]
    click = rng.random(n) < 1 / (1 + np.exp(-z))
    return torch.tensor(np.stack([a, b, c], 1)), torch.tensor(click, dtype=torch.float32)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    effects, cross = [rng.normal(size=m) * 0.8 for m in (20, 30, 10)], rng.normal(size=(20, 10))
    x, y = impressions(8000, rng, effects, cross)
    vx, vy = impressions(2000, rng, effects, cross)
    fm = FactorizationMachine([20, 30, 10])
    opt = torch.optim.Adam(fm.parameters(), lr=1e-2)
    for epoch in range(5):
        for idx in torch.randperm(len(x)).split(100):
            loss = F.binary_cross_entropy_with_logits(fm(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            val = F.binary_cross_entropy_with_logits(fm(vx), vy).item()
        print(f"epoch {epoch} val {val:.4f}")
    print(f"final val {val:.4f}")


if __name__ == "__main__":
    main()
