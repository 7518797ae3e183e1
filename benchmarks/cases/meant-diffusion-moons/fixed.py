import math
import torch
from torch import nn

T = 50
betas = torch.linspace(1e-3, 0.15, T)
alpha_bar = torch.cumprod(1 - betas, 0)


def moons(n):
    a = torch.rand(n) * math.pi
    up = torch.rand(n) < 0.5
    x = torch.where(up, a.cos(), 1 - a.cos())
    y = torch.where(up, a.sin(), 0.5 - a.sin())
    return torch.stack([x - 0.5, y - 0.25], 1) * 1.5 + 0.05 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class Diffusion:
    def __init__(self):
        self.model = Denoiser()
        self.ema = None
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def train_step(self, x0):
        t = torch.randint(0, T, (len(x0),))
        eps = torch.randn_like(x0)
        ab = alpha_bar[t].unsqueeze(1)
        xt = ab.sqrt() * x0 + (1 - ab).sqrt() * eps
        loss = nn.functional.mse_loss(self.model(xt, t), eps)
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optim.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    d, losses = Diffusion(), []
    for step in range(1, 1001):
        losses.append(d.train_step(moons(128)))
        if step % 200 == 0:
            print(f"step {step} loss {sum(losses[-200:]) / 200:.4f}")
    print(f"final loss {sum(losses[-200:]) / 200:.4f}")
