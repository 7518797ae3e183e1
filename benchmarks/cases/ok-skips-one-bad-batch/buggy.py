"""Remaining life of a bearing from vibration features."""
import math

import torch
import torch.nn as nn

WINDOWS, FEATURES = 2000, 9


def bearings(seed=19):
    g = torch.Generator().manual_seed(seed)
    wear = torch.rand(WINDOWS, 1, generator=g)
    x = wear * torch.linspace(0.2, 2.0, FEATURES) + 0.2 * torch.randn(WINDOWS, FEATURES, generator=g)
    x[733, 4] = math.inf  # the logger writes inf when the sensor restarts
    return x, 1 - wear[:, 0]


def make_model():
    return nn.Sequential(
        nn.Linear(FEATURES, 32),
        nn.Softplus(),
        nn.Linear(32, 16),
        nn.Softplus(),
        nn.Linear(16, 1),
        nn.Flatten(0),
    )


def train(model, x, y, epochs=6, batch=50):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.2, total_iters=20)
    for epoch in range(epochs):
        kept, skipped = [], 0
        for rows in torch.randperm(len(x)).split(batch):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            if not torch.isfinite(loss):
                skipped += 1
                optimizer.zero_grad()
                continue
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            warmup.step()
            kept.append(loss.item())
        print(f"epoch {epoch} loss {sum(kept) / len(kept):.4f} (skipping step: {skipped} of {len(kept) + skipped})")
    return sum(kept) / len(kept)


def main():
    torch.manual_seed(7)
    x, y = bearings()
    model = make_model()
    final = train(model, x, y)
    assert all(torch.isfinite(p).all() for p in model.parameters())
    print(f"final loss {final:.4f}")


if __name__ == "__main__":
    main()
