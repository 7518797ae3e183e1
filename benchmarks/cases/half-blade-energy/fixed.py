"""Vibration of turbine blades: half precision activations between the blocks."""
import argparse
import torch
from torch import nn


class RootMeanSquare(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        power = x.float().square().mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(power + self.eps) * self.gain


def energy(h):
    """Level of the vibration, as the ear hears it."""
    return h.float().square().sum(dim=-1, keepdim=True).log1p()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = RootMeanSquare(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.norm(x)
        y = self.down(torch.nn.functional.silu(self.up(y)))
        return x + y.to(x.dtype)


class BladeModel(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        self.lift = nn.Linear(12, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width + 1, 1)

    def forward(self, x):
        h = self.lift(x).to(torch.float16)
        return self.head(torch.cat([self.blocks(h).float() / 50, energy(h).float()], dim=1)).flatten()


def windows(step, n=40):
    gen = torch.Generator().manual_seed(step)
    speed = 1.0 + (step / 60)
    x = torch.randn(n, 12, generator=gen) * speed * 20
    return x, x[:, :4].sum(1) / 100 + x.square().mean(1).log() / 4


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=420)
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    model = BladeModel()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    recent = []
    for step in range(args.steps):
        x, y = windows(step)
        loss = torch.nn.functional.smooth_l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent.append(loss.item())
        if step % 60 == 0:
            print("step", step, "loss", round(recent[-1], 4))
    print("final loss", round(sum(recent[-30:]) / 30, 4))


main()
