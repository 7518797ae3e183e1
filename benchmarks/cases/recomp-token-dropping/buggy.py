"""Plankton classes from tokens of holograms, with random token dropping."""
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

TOKENS, KINDS = 32, 4


class TokenStage(nn.Module):
    def __init__(self, dim, rng, least=0.5):
        super().__init__()
        self.rng, self.least = rng, least
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def drop(self, h):
        if not self.training:
            return h
        keep = int(self.rng.integers(int(self.least * h.shape[1]), h.shape[1] + 1))
        return h[:, :keep]

    def forward(self, h):
        h = self.drop(h)
        return h + self.mlp(h)


class Plankton(nn.Module):
    def __init__(self, inputs=6, dim=24, depth=2, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.lift = nn.Linear(inputs, dim)
        self.stages = nn.ModuleList(TokenStage(dim, rng) for _ in range(depth))
        self.head = nn.Linear(dim, KINDS)

    def forward(self, tokens):
        h = self.lift(tokens)
        for stage in self.stages:
            h = checkpoint(stage, h, use_reentrant=False)
        return self.head(h.mean(1))


def holograms(n, g, centre):
    kind = torch.randint(0, KINDS, (n,), generator=g)
    tokens = centre[kind][:, None] + torch.randn(n, TOKENS, centre.shape[1], generator=g)
    return tokens, kind


def main():
    torch.manual_seed(9)
    np.random.seed(9)
    g = torch.Generator().manual_seed(9)
    centre = 0.5 * torch.randn(KINDS, 6, generator=g)
    model = Plankton()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(100):
        tokens, kind = holograms(32, g, centre)
        loss = nn.functional.cross_entropy(model(tokens), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
