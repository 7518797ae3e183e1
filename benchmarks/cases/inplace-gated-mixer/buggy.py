"""Gated mixing of sensor tokens, with absent sensors left out."""
import torch
from torch import nn


class GatedMixer(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.value = nn.Linear(dim, dim)
        self.gate = nn.Linear(dim, dim)
        self.across = nn.Linear(tokens, tokens)

    def forward(self, x, present):
        h = self.norm(x)
        gate = torch.sigmoid(self.gate(h))
        gate.mul_(present[..., None])
        mixed = self.across((gate * self.value(h)).transpose(1, 2)).transpose(1, 2)
        return x + mixed


class FaultModel(nn.Module):
    def __init__(self, tokens=12, dim=20, depth=2, faults=4):
        super().__init__()
        self.lift = nn.Linear(3, dim)
        self.blocks = nn.ModuleList(GatedMixer(tokens, dim) for _ in range(depth))
        self.head = nn.Linear(dim, faults)

    def forward(self, x, present):
        h = self.lift(x)
        for block in self.blocks:
            h = block(h, present)
        return self.head((h * present[..., None]).sum(1) / present.sum(1, keepdim=True))


def batch(g, size=32, tokens=12):
    x = torch.randn(size, tokens, 3, generator=g)
    present = (torch.rand(size, tokens, generator=g) < 0.85).float()
    present[:, 0] = 1
    score = (x * present[..., None]).sum((1, 2))
    fault = torch.bucketize(score, torch.tensor([-4.0, 0.0, 4.0]))
    return x, present, fault


def main():
    torch.manual_seed(4)
    g = torch.Generator().manual_seed(40)
    model = FaultModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for step in range(150):
        x, present, fault = batch(g)
        loss = nn.functional.cross_entropy(model(x, present), fault)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 30 == 0:
            print(f"step {step:3d} loss {losses[-1]:.4f}")
    print(f"final loss {sum(losses[-10:]) / 10:.4f}")


if __name__ == "__main__":
    main()
