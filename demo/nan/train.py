"""Flood warnings for one river gauge: will the level pass the mark within the next six hours?

Each example is a day of hourly rain (mm) and level (m). Storms are rare, so the loss weighs them up.
"""

import torch
from torch import nn

STEPS = 120
BATCH = 32
EPS = 1e-8
STORM_WEIGHT = 4.0


def weather(days, generator):
    """Rain and level per hour, [days, 2, 24], and whether a flood followed, [days]."""
    rain = torch.rand(days, 24, generator=generator).pow(6) * 9.0
    storm = torch.rand(days, generator=generator) < 0.15
    rain[storm, 12:] += 4.0 + 5.0 * torch.rand(int(storm.sum()), 12, generator=generator)
    # One cloudburst, as the archive has it: 70 mm an hour through the afternoon.
    rain[1514, 13:18] = 70.0
    storm[1514] = True
    level = 0.8 + 0.02 * rain.cumsum(1)
    return torch.stack([rain, level], 1), storm.float()


class FloodNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hours = nn.Sequential(
            nn.Conv1d(2, 16, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(16, 16, 5, padding=2),
            nn.ReLU(),
        )
        self.risk = nn.Linear(16, 1)

    def forward(self, days):
        return torch.sigmoid(self.risk(self.hours(days).amax(2))).squeeze(1)


def flood_loss(probability, flood):
    """Cross-entropy with floods weighed up; probabilities are kept off 0 and 1 for the logarithms."""
    p = probability.clamp(EPS, 1 - EPS)
    missed = flood * torch.log(p)
    false_alarm = (1 - flood) * torch.log(1 - p)
    return -(STORM_WEIGHT * missed + false_alarm).mean()


def main():
    torch.manual_seed(7)
    days, floods = weather(2000, torch.Generator().manual_seed(7))
    model = FloodNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    order = torch.arange(len(days)).repeat(2)
    for step in range(STEPS):
        batch = order[step * BATCH % len(days) :][:BATCH]
        loss = flood_loss(model(days[batch]), floods[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 14:
            print(f"step {step + 1:3d}  loss {loss.item():.4f}", flush=True)
    with torch.no_grad():
        hit = ((model(days) > 0.5) == floods.bool()).float().mean()
    print(f"right on {hit.item():.1%} of {len(days)} days")


if __name__ == "__main__":
    main()
