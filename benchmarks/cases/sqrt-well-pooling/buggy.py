from __future__ import annotations

import dataclasses

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


@dataclasses.dataclass
class Options:
    wells: int = 900
    cells: int = 64
    markers: int = 10
    blanks: int = 5
    hidden: int = 40
    batch_size: int = 36
    epochs: int = 5
    lr: float = 2e-3


class Plate(Dataset):
    """Wells of cells; a blank well repeats the calibration bead."""

    def __init__(self, opt: Options, seed: int):
        g = torch.Generator().manual_seed(seed)
        self.dose = torch.randint(0, 3, (opt.wells,), generator=g)
        scale = 0.6 + 0.5 * self.dose[:, None, None]
        shift = 0.3 * self.dose[:, None, None] * torch.linspace(-1, 1, opt.markers)
        self.cells = shift + scale * torch.randn(opt.wells, opt.cells, opt.markers, generator=g)
        bead = torch.randn(opt.markers, generator=g)
        for well in torch.randperm(opt.wells, generator=g)[: opt.blanks]:
            self.cells[well] = bead

    def __len__(self) -> int:
        return len(self.dose)

    def __getitem__(self, i: int):
        return self.cells[i], self.dose[i]


class StatPool(nn.Module):
    def forward(self, h: torch.Tensor) -> torch.Tensor:
        centre = h.mean(1, keepdim=True)
        var = ((h - centre) ** 2).mean(1)
        spread = torch.sqrt(var)
        return torch.cat([centre.squeeze(1), spread], dim=-1)


class WellNet(nn.Module):
    def __init__(self, opt: Options):
        super().__init__()
        self.cell = nn.Sequential(nn.Linear(opt.markers, opt.hidden), nn.ELU(), nn.Linear(opt.hidden, opt.hidden))
        self.pool = StatPool()
        self.dose = nn.Sequential(nn.Linear(2 * opt.hidden, 32), nn.ELU(), nn.Linear(32, 3))

    def forward(self, cells):
        return self.dose(self.pool(self.cell(cells)))


def fit(opt: Options) -> float:
    loader = DataLoader(Plate(opt, seed=31), opt.batch_size, shuffle=True, generator=torch.Generator().manual_seed(3))
    net = WellNet(opt)
    optim = torch.optim.NAdam(net.parameters(), lr=opt.lr)
    for epoch in range(opt.epochs):
        running = []
        for n, (cells, dose) in enumerate(loader, 1):
            loss = F.cross_entropy(net(cells), dose)
            optim.zero_grad()
            loss.backward()
            optim.step()
            running.append(loss.item())
            if epoch == 0:
                print(f"    {n:2d}/{len(loader)} {loss.item():.4f}")
        mean = sum(running) / len(running)
        print(f"epoch {epoch + 1} mean loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    torch.manual_seed(6)
    print(f"final loss {fit(Options()):.4f}")
