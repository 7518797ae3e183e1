"""Self-supervised maps of enzymes: a student follows a slow teacher without gradient."""
import copy
import torch
import torch.nn.functional as F
from torch import nn


def projector(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, outputs))


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.student, self.predictor = projector(18, 16), projector(16, 16)
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad = False

    def forward(self, a, b):
        guess = F.normalize(self.predictor(self.student(a)), dim=-1)
        with torch.no_grad():
            goal = F.normalize(self.teacher(b), dim=-1)
        return (2 - 2 * (guess * goal).sum(-1)).mean()

    @torch.no_grad()
    def follow(self, rate=0.02):
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.mul_(1 - rate).add_(s, alpha=rate)


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(2)
    pair = Pair()
    optimizer = torch.optim.AdamW(pair.parameters(), lr=2e-3)
    for step in range(400):
        clean = torch.randn(64, 18, generator=gen)
        a, b = (clean + 0.15 * torch.randn(64, 18, generator=gen) for _ in range(2))
        loss = 0.5 * (pair(a, b) + pair(b, a))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pair.follow()
        if step % 80 == 0:
            print(step, f"{loss.item():.4f}")
    print("final loss", f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
