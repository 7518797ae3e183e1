"""Flood depth along a canal, one cell applied hour after hour."""
import torch
from torch import nn

HOURS, SECTIONS = 24, 6


class CanalCell(nn.Module):
    def __init__(self, sections, hidden=16):
        super().__init__()
        self.flow = nn.Linear(sections + 1, hidden)
        self.change = nn.Linear(hidden, sections)

    def forward(self, depth, inflow):
        h = torch.tanh(self.flow(torch.cat([depth, inflow[:, None]], dim=1)))
        return depth * torch.sigmoid(self.change(h)) + 0.1 * torch.relu(self.change(h))


class Canal(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = CanalCell(SECTIONS)

    def forward(self, start, inflow):
        depth = [start]
        for t in range(1, HOURS):
            depth.append(self.cell(depth[-1], inflow[:, t]))
        return torch.stack(depth, dim=1)


def events(n, g):
    start = torch.rand(n, SECTIONS, generator=g)
    inflow = torch.rand(n, HOURS, generator=g)
    levels = [start]
    for t in range(1, HOURS):
        last = levels[-1]
        levels.append(0.8 * last + 0.15 * torch.cat([inflow[:, t, None], last[:, :-1]], dim=1))
    return start, inflow, torch.stack(levels, dim=1)


def fit(steps=80):
    torch.manual_seed(4)
    g = torch.Generator().manual_seed(4)
    canal = Canal()
    optimizer = torch.optim.Adam(canal.parameters(), lr=1e-2)
    for step in range(steps):
        start, inflow, observed = events(16, g)
        loss = nn.functional.mse_loss(canal(start, inflow), observed)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(canal.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return loss.item()


if __name__ == "__main__":
    print(f"final loss {fit():.4f}")
