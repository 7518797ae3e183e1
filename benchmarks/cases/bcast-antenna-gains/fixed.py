"""Signal quality of a radio link from antenna measurements."""
import torch
import torch.nn as nn


class Calibration(nn.Module):
    """Corrects the received power by the learned gain of the antenna."""

    def __init__(self, antennas):
        super().__init__()
        self.log_gain = nn.Parameter(torch.zeros(antennas))

    def forward(self, power, antenna):
        gain = self.log_gain[antenna].exp()
        return power * gain[:, None]


class Quality(nn.Module):
    def __init__(self, antennas=6, hidden=16):
        super().__init__()
        self.calibration = Calibration(antennas)
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def features(self, sample):
        columns = [self.calibration(sample["power"], sample["antenna"])]
        columns += [sample["distance"], sample["humidity"]]
        return torch.stack(columns, dim=1).squeeze(-1)

    def forward(self, sample):
        return self.net(self.features(sample))


def measure(n, g, true_gain):
    antenna = torch.randint(0, len(true_gain), (n,), generator=g)
    power = torch.randn(n, 1, generator=g)
    distance = torch.rand(n, 1, generator=g)
    humidity = torch.rand(n, 1, generator=g)
    quality = power * true_gain[antenna][:, None] - distance + 0.2 * humidity
    sample = {"antenna": antenna, "power": power, "distance": distance, "humidity": humidity}
    return sample, quality


def fit(steps=200, batch=40):
    torch.manual_seed(13)
    g = torch.Generator().manual_seed(13)
    true_gain = 0.5 + torch.rand(6, generator=g)
    model = Quality()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        sample, quality = measure(batch, g, true_gain)
        error = model(sample) - quality
        loss = error.square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return loss.item()


if __name__ == "__main__":
    print(f"final loss {fit():.4f}")
