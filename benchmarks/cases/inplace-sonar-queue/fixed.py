"""Momentum contrast on sonar pings: a queue of keys from earlier batches."""
import copy
import torch
import torch.nn.functional as F
from torch import nn


class MomentumContrast(nn.Module):
    def __init__(self, dim=16, slots=128, m=0.98, t=0.15):
        super().__init__()
        self.query = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.m, self.t, self.head = m, t, 0
        self.register_buffer("queue", F.normalize(torch.randn(slots, dim), dim=1))

    @torch.no_grad()
    def follow(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.lerp_(q, 1 - self.m)

    @torch.no_grad()
    def enqueue(self, keys):
        n = len(keys)
        self.queue[self.head:self.head + n] = keys
        self.head = (self.head + n) % len(self.queue)

    def forward(self, one, two):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(two), dim=1)
        same = (q * k).sum(1, keepdim=True)
        others = q @ self.queue.clone().T
        self.enqueue(k)
        logits = torch.cat([same, others], dim=1) / self.t
        return logits, torch.zeros(len(logits), dtype=torch.long)


def views(gen, n=32):
    base = torch.randn(n, 24, generator=gen)
    return base + 0.2 * torch.randn(n, 24, generator=gen), base + 0.2 * torch.randn(n, 24, generator=gen)


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    model = MomentumContrast()
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.2, momentum=0.9)
    for step in range(300):
        logits, answer = model(*views(gen))
        loss = F.cross_entropy(logits, answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print("step", step, "loss", f"{loss.item():.4f}")
    print("final loss", f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
