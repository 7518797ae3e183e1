"""Melt events per station and day as a Poisson rate of elevation and temperature."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STATIONS, DAYS = 60, 40


class MeltRate(nn.Module):
    def __init__(self, inputs=3, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        nn.init.constant_(self.body[-1].bias, 0.5)

    def forward(self, x):
        log_rate = self.body(x / x.new_tensor([1000, 1, 1])).squeeze(1)
        return log_rate.exp()


class Exposure(nn.Module):
    """Hours of the day in which melting is possible at all."""

    def forward(self, rate, hours):
        return rate * hours / 24


def observations(seed=4):
    g = torch.Generator().manual_seed(seed)
    elevation = 800 + 2600 * torch.rand(STATIONS, 1, generator=g).expand(STATIONS, DAYS)
    temperature = torch.randn(STATIONS, DAYS, generator=g)
    slope = torch.rand(STATIONS, 1, generator=g).expand(STATIONS, DAYS)
    hours = (12 + 8 * temperature).clamp(0, 24)
    truth = torch.exp(0.6 * temperature - 0.3 * elevation / 1000 + 1) * hours / 24
    counts = torch.poisson(truth, generator=g)
    x = torch.stack([elevation, temperature, slope], dim=-1)
    return x.reshape(-1, 3), hours.reshape(-1), counts.reshape(-1)


def negative_log_likelihood(rate, counts):
    return (rate - counts * torch.log(rate + 1e-6)).mean()


def fit(epochs=6):
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(*observations()), batch_size=80, shuffle=True)
    model, exposure = MeltRate(), Exposure()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        running = 0.0
        for x, hours, counts in loader:
            rate = exposure(model(x), hours)
            loss = negative_log_likelihood(rate, counts)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() / len(loader)
        print(f"epoch {epoch} nll {running:.4f}")
    return running


if __name__ == "__main__":
    print(f"final loss {fit():.4f}")
