import argparse

import numpy as np
import torch
from torch import nn, optim


def gauge(hours, rng):
    """Hourly rain and water level of one gauge (rain runs off within a day or so)."""
    rain = rng.gamma(0.15, 4.0, hours)
    level = np.zeros(hours)
    for h in range(1, hours):
        level[h] = 0.93 * level[h - 1] + 0.07 * rain[max(0, h - 4)]
    return rain, level + 0.01 * rng.standard_normal(hours)


def with_target(rain, level, horizon, lags=12):
    columns = [np.roll(level, k) for k in range(lags)] + [np.roll(rain, k) for k in range(lags)]
    ahead = np.full(len(level), np.nan)
    ahead[:-horizon] = level[horizon:]
    return np.column_stack([*columns, ahead])[lags:]


def build(n_gauges, hours, horizon, seed):
    rng = np.random.default_rng(seed)
    tables = [with_target(*gauge(hours, rng), horizon) for _ in range(n_gauges)]
    table = np.concatenate(tables).astype(np.float32)
    table = table[np.isfinite(table[:, -1])]
    return table[:, :-1], table[:, -1]


def scale(features):
    middle, spread = np.median(features, axis=0), features.std(axis=0)
    return (features - middle) / spread


def network(n_in, widths):
    layers = []
    for width in widths:
        layers.extend([nn.Linear(n_in, width), nn.Mish()])
        n_in = width
    return nn.Sequential(*layers, nn.Linear(n_in, 1), nn.Flatten(0))


def run(args):
    torch.manual_seed(args.seed)
    features, target = build(args.gauges, args.hours, args.horizon, args.seed)
    x, y = torch.from_numpy(scale(features)), torch.from_numpy(target)
    net = network(x.shape[1], [48, 24])
    optimizer = optim.AdamW(net.parameters(), lr=args.lr)
    criterion = nn.SmoothL1Loss(beta=0.1)
    for epoch in range(args.epochs):
        seen = []
        for part in torch.randperm(len(x)).split(args.batch):
            loss = criterion(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.detach())
        mean = torch.stack(seen).mean().item()
        print(f"epoch {epoch}: {mean:.4f} (first batch {seen[0].item():.4f})")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser(description="Water level ahead of time.")
    cli.add_argument("--gauges", type=int, default=5)
    cli.add_argument("--hours", type=int, default=1500)
    cli.add_argument("--horizon", type=int, default=6)
    cli.add_argument("--batch", type=int, default=150)
    cli.add_argument("--epochs", type=int, default=6)
    cli.add_argument("--lr", type=float, default=3e-3)
    cli.add_argument("--seed", type=int, default=5)
    run(cli.parse_args())
