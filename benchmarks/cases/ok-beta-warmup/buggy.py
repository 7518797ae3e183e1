"""A VAE of leaf outlines with warm-up of the learning rate and of the KL term."""
import torch
from torch import nn


class OutlineVAE(nn.Module):
    def __init__(self, points=24, latent=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(points, 48), nn.ReLU(), nn.Linear(48, 2 * latent))
        self.decode = nn.Sequential(nn.Linear(latent, 48), nn.ReLU(), nn.Linear(48, points))

    def forward(self, outline):
        mean, log_var = self.encode(outline).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        kl = 0.5 * (mean.square() + log_var.exp() - 1 - log_var).sum(1)
        error = 10 * (self.decode(z) - outline).square().sum(1)
        return error.mean(), kl.mean()


def outlines(n=1024, points=24, seed=61):
    g = torch.Generator().manual_seed(seed)
    angle = torch.linspace(0, 6.2832, points)
    lobes = torch.rand(n, 3, 1, generator=g)
    return sum(0.4 * (lobes[:, k] - 0.5) * torch.cos((k + 1) * angle) for k in range(3))


def main(epochs=14, warm=8):
    torch.manual_seed(1)
    data, vae = outlines(), OutlineVAE()
    optimizer = torch.optim.AdamW(vae.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.25, total_iters=warm)
    for epoch in range(epochs):
        beta = min(1.0, max(0, epoch - 5) / warm)
        totals = []
        for rows in torch.randperm(len(data)).split(64):
            error, kl = vae(data[rows])
            loss = error + beta * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            totals.append((loss.item(), error.item(), kl.item()))
        schedule.step()
        loss, error, kl = (sum(t) / len(totals) for t in zip(*totals))
        print(f"epoch {epoch:2d} beta {beta:.2f} loss {loss:.3f} error {error:.3f} kl {kl:.3f}")
    print(f"final loss {loss:.4f}")


if __name__ == "__main__":
    main()
