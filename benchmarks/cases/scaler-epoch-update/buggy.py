"""Occupancy of a parking lot by hour, with hooks around epochs and batches."""
import torch
from torch import nn


class Occupancy(nn.Module):
    def __init__(self, hours=24, hidden=32):
        super().__init__()
        self.hour = nn.Embedding(hours, 8)
        self.net = nn.Sequential(nn.Linear(8 + 3, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, hour, weather):
        return self.net(torch.cat([self.hour(hour), weather], dim=1)).squeeze(1)


class Engine:
    def __init__(self, model, lr=1e-2, mixed=True):
        self.model, self.mixed = model, mixed
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=mixed)
        self.losses = []

    def begin_epoch(self):
        self.losses = []

    def batch(self, hour, weather, occupied):
        with torch.autocast("cpu", dtype=torch.float16, enabled=self.mixed):
            predicted = self.model(hour, weather)
        loss = nn.functional.mse_loss(predicted.float(), occupied)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.losses.append(loss.item())

    def end_epoch(self):
        self.scaler.update()
        return sum(self.losses) / len(self.losses)


def lot(n=1440, seed=27):
    g = torch.Generator().manual_seed(seed)
    hour = torch.randint(0, 24, (n,), generator=g)
    weather = torch.randn(n, 3, generator=g)
    occupied = torch.sin(hour / 24 * 6.28) + 0.2 * weather[:, 0] + 0.1 * torch.randn(n, generator=g)
    return hour, weather, occupied


def main():
    torch.manual_seed(0)
    engine, data = Engine(Occupancy()), lot()
    for epoch in range(6):
        engine.begin_epoch()
        for rows in torch.randperm(len(data[0])).split(48):
            engine.batch(*(column[rows] for column in data))
        mean = engine.end_epoch()
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
