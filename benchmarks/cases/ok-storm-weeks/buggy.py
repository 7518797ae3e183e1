"""Power of a wind farm, week by week; some weeks are stormy."""
import torch
from torch import nn


class Farm(nn.Module):
    def __init__(self, turbines=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(turbines, 32), nn.Tanh(), nn.Linear(32, 1))
        self.direct = nn.Linear(turbines, 1)

    def forward(self, wind):
        return (self.net(wind) + self.direct(wind)).squeeze(-1)


def week(number, g):
    stormy = number % 10 == 9
    wind = torch.randn(64, 6, generator=g) * (4.0 if stormy else 1.0)
    power = wind.mean(1) + 0.2 * torch.tanh(wind[:, 0])
    return wind, power, stormy


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(77)
    farm = Farm()
    optimizer = torch.optim.Adam(farm.parameters(), lr=3e-3, betas=(0.9, 0.98))
    calm, storms = [], []
    for number in range(300):
        wind, power, stormy = week(number, g)
        loss = nn.functional.mse_loss(farm(wind), power)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        (storms if stormy else calm).append(loss.item())
        if stormy and number % 30 == 29:
            print(f"week {number} storm loss {storms[-1]:.4f}, week before {calm[-1]:.4f}")
    print(f"final loss {sum(calm[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
