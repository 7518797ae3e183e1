"""Priority of a support ticket from the customer's history."""
import math

import torch
import torch.nn.functional as F
from torch import nn

CUSTOMERS, WORDS = 12, 90


class History(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))

    def forward(self, h, seen):
        scores = self.q(h) @ self.k(h).transpose(-2, -1) / math.sqrt(h.shape[-1])
        scores = scores.masked_fill(~seen, float("-inf"))
        return scores.softmax(-1) @ self.v(h)


class Priority(nn.Module):
    def __init__(self, dim=32, levels=3):
        super().__init__()
        self.words = nn.EmbeddingBag(WORDS, dim)
        self.history = History(dim)
        self.norm = nn.LayerNorm(dim)
        self.level = nn.Linear(dim, levels)

    def forward(self, words, seen):
        h = self.words(words.flatten(0, 1)).unflatten(0, words.shape[:2])
        return self.level(self.norm(h + self.history(h, seen)))


def visible(customer):
    """Which ticket may look at which: earlier ones of the same customer."""
    same = customer[:, :, None] == customer[:, None, :]
    seen = same & torch.ones_like(same).tril(diagonal=-1)
    return seen


def tickets(n, length, g):
    customer = torch.randint(0, CUSTOMERS, (n, length), generator=g)
    words = torch.randint(0, WORDS, (n, length, 6), generator=g)
    level = (words < 12).sum(-1).clamp(max=2)
    return customer, words, level


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(8)
    model = Priority()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(160):
        customer, words, level = tickets(8, 24, g)
        logits = model(words, visible(customer))
        loss = F.cross_entropy(logits.flatten(0, 1), level.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
