"""Refine the viewing directions of a camera rig."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CAMERAS, FRAMES = 6, 200


class Refiner(nn.Module):
    """Predicts a correction to the measured direction; starts as the identity."""

    def __init__(self, hidden=32):
        super().__init__()
        self.inner = nn.Linear(3, hidden)
        self.outer = nn.Linear(hidden, 3)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, direction):
        return F.normalize(direction + self.outer(torch.tanh(self.inner(direction))), dim=-1)


def angle_between(a, b):
    cosine = (a * b).sum(-1).clamp(-1.0, 1.0)
    return torch.acos(cosine)


class GeodesicLoss(nn.Module):
    def forward(self, predicted, target):
        return angle_between(predicted, target).square().mean()


def rig(seed=12):
    g = torch.Generator().manual_seed(seed)
    true = F.normalize(torch.randn(FRAMES, CAMERAS, 3, generator=g), dim=-1)
    axis = torch.tensor([0.15, -0.1, 0.05])
    measured = F.normalize(true + axis + 0.01 * torch.randn(true.shape, generator=g), dim=-1)
    measured[60:64, 2] = torch.tensor([0.0, 0.0, 1.0])
    true[60:64, 2] = torch.tensor([0.0, 0.0, 1.0])
    return measured, true


def main():
    torch.manual_seed(9)
    measured, true = rig()
    model, criterion = Refiner(), GeodesicLoss()
    optim = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(10):
        losses = []
        for start in range(0, FRAMES, 20):
            rows = slice(start, start + 20)
            loss = criterion(model(measured[rows]), true[rows])
            optim.zero_grad()
            loss.backward()
            optim.step()
            losses.append(loss.item())
        print(f"epoch {epoch} squared angle {sum(losses) / len(losses):.5f}")
    print(f"final loss {sum(losses) / len(losses):.5f}")


if __name__ == "__main__":
    main()
