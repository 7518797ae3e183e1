"""Parcels per depot and day: a logistic distribution over integer bins."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class Settings:
    days: int = 3600
    width: int = 64
    batch: int = 120
    epochs: int = 10
    lr: float = 5e-3
    floor: float = 1e-7


def depot_days(n, seed):
    rng = np.random.default_rng(seed)
    weekday = rng.integers(0, 7, n)
    season = rng.random(n)
    stores = rng.integers(1, 9, n)
    level = 12 + 3.0 * stores + 6 * np.sin(2 * np.pi * season) - 7 * (weekday >= 5)
    parcels = rng.poisson(np.clip(level, 2, None))
    sale = rng.random(n) < 0.006
    parcels = np.where(sale, parcels * 3, parcels)
    onehot = np.eye(7)[weekday]
    x = np.concatenate([onehot, season[:, None], stores[:, None] / 8], axis=1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(parcels, dtype=torch.float32)


class BinnedLogistic(nn.Module):
    def __init__(self, inputs, cfg):
        super().__init__()
        self.floor = cfg.floor
        self.body = nn.Sequential(nn.Linear(inputs, cfg.width), nn.GELU(), nn.Linear(cfg.width, cfg.width), nn.GELU())
        self.centre = nn.Linear(cfg.width, 1)
        self.log_scale = nn.Linear(cfg.width, 1)
        nn.init.constant_(self.centre.bias, 25.0)
        nn.init.constant_(self.log_scale.bias, 1.0)

    def log_prob(self, x, parcels):
        h = self.body(x)
        mu = self.centre(h).squeeze(-1)
        rate = torch.exp(-self.log_scale(h).squeeze(-1).clamp(-1.0, 4.0))
        upper = torch.sigmoid((parcels + 0.5 - mu) * rate)
        lower = torch.sigmoid((parcels - 0.5 - mu) * rate)
        return torch.log(upper - lower + self.floor)


class Fitter:
    def __init__(self, cfg):
        self.cfg = cfg
        self.x, self.parcels = depot_days(cfg.days, seed=8)
        self.model = BinnedLogistic(self.x.shape[1], cfg)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def batches(self):
        for rows in torch.randperm(len(self.x)).split(self.cfg.batch):
            yield self.x[rows], self.parcels[rows]

    def epoch(self):
        losses = []
        for x, parcels in self.batches():
            self.opt.zero_grad()
            nll = -self.model.log_prob(x, parcels).mean()
            nll.backward()
            self.opt.step()
            losses.append(nll.item())
        return float(np.mean(losses))

    def run(self):
        for number in range(1, self.cfg.epochs + 1):
            nll = self.epoch()
            print(f"epoch {number:2d} | nll {nll:.4f}")
        return nll


if __name__ == "__main__":
    torch.manual_seed(3)
    print(f"final loss {Fitter(Settings()).run():.4f}")
