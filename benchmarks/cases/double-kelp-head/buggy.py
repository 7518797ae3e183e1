"""Depth of a kelp bed from sonar echoes; the head was given double precision for a comparison and kept it."""

import torch
from torch import nn

BEDS, ECHOES, STEPS = 256, 24, 60


class EchoBody(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lift = nn.Linear(ECHOES, width)
        self.mix = nn.Linear(width, width)

    def forward(self, echoes):
        return torch.relu(self.mix(torch.relu(self.lift(echoes))))


class DepthHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.depth = nn.Linear(width, 1)

    def forward(self, features):
        return self.depth(self.norm(features)).squeeze(1)


class Surveyor(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = EchoBody(width)
        self.head = DepthHead(width).double()

    def forward(self, echoes):
        return self.head(self.body(echoes))


def survey(seed):
    generator = torch.Generator().manual_seed(seed)
    depth = torch.rand(BEDS, generator=generator) * 4
    echoes = torch.randn(BEDS, ECHOES, generator=generator) * 0.1
    echoes[:, :8] += depth.unsqueeze(1)
    return echoes, depth


def main():
    torch.manual_seed(4)
    echoes, depth = survey(4)
    model = Surveyor()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(STEPS):
        rows = torch.randint(0, BEDS, (32,))
        loss = nn.functional.mse_loss(model(echoes[rows]), depth[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
