"""Engine knock detector on raw 16-bit samples, run in half precision."""
import torch
import torch.nn as nn


class Knock(nn.Module):
    def __init__(self, samples=160, hidden=48):
        super().__init__()
        angle = 2 * torch.pi * torch.arange(samples)[:, None] * torch.arange(hidden) / samples
        self.register_buffer("waves", torch.cat([angle.cos(), angle.sin()], dim=1))
        self.norm = nn.LayerNorm(2 * hidden)
        self.decide = nn.Sequential(nn.Linear(2 * hidden, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, wave):
        spectrum = wave @ self.waves
        return self.decide(self.norm(spectrum))


def recordings(n, seed, samples=160):
    g = torch.Generator().manual_seed(seed)
    knock = torch.randint(0, 2, (n,), generator=g)
    t = torch.arange(samples) / samples
    hum = torch.sin(2 * torch.pi * (3 * t + torch.rand(n, 1, generator=g)))
    ring = torch.sin(2 * torch.pi * 31 * t) * torch.exp(-5 * t)
    loudness = 300 + 500 * torch.rand(n, 1, generator=g)
    loudness[torch.randperm(n, generator=g)[:9]] *= 18
    wave = loudness * (0.5 * hum + knock[:, None] * ring + 0.3 * torch.randn(n, samples, generator=g))
    return wave.clamp(-32768, 32767).round(), knock


def train(config):
    torch.manual_seed(config["seed"])
    x, y = recordings(1800, seed=3)
    model = Knock()
    opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
    for epoch in range(config["epochs"]):
        mean = 0.0
        batches = torch.randperm(len(x)).split(config["batch"])
        for rows in batches:
            wave = x[rows] / 32768
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(wave)
            loss = nn.functional.cross_entropy(logits.float(), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            mean += loss.item() / len(batches)
        print(f"epoch {epoch} loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    print(f"final loss {train({'lr': 1e-3, 'epochs': 6, 'batch': 60, 'seed': 0}):.4f}")
