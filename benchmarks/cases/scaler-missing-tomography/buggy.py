"""Attenuation maps from noisy slices of a tomography."""
import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.LeakyReLU(0.1),
            nn.Conv2d(width, 1, 3, padding=1),
        )

    def forward(self, noisy):
        return self.net(noisy)


class Slices:
    """Projected counts, and the attenuation per millimetre."""

    def __init__(self, size=64, seed=22):
        self.size, self.g = size, torch.Generator().manual_seed(seed)
        axis = torch.linspace(-1, 1, size)
        self.radius = (axis[:, None] ** 2 + axis[None, :] ** 2).sqrt()

    def batch(self, n):
        edge = torch.rand(n, 1, 1, 1, generator=self.g) * 0.6 + 0.3
        inside = (self.radius < edge).float()
        return inside + 0.3 * torch.randn(n, 1, self.size, self.size, generator=self.g), 3e-4 * inside


class Fit:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        nn.init.zeros_(model.net[-1].weight)
        nn.init.zeros_(model.net[-1].bias)

    def step(self, noisy, clean):
        with torch.autocast("cpu", dtype=torch.float16):
            estimate = self.model(noisy)
            loss = nn.functional.mse_loss(estimate, clean)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(2)
    fit, slices = Fit(Denoiser(), lr=1e-5), Slices()
    for step in range(60):
        error = fit.step(*slices.batch(16)) * 1e8
        if step % 12 == 0:
            print(f"step {step} error {error:.4f}")
    print(f"final loss {error:.4f}")


if __name__ == "__main__":
    main()
