"""Will a track be skipped? GRU over the first seconds."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SkipNet(nn.Module):
    def __init__(self, bands=8, hidden=24):
        super().__init__()
        self.listen = nn.GRU(bands, hidden, batch_first=True)
        self.rank = nn.Linear(hidden, 1)

    def forward(self, seconds):
        _, states = self.listen(seconds)
        return self.rank(states[-1]).squeeze(-1)


class Tracks:
    def __init__(self, n=481, length=12, bands=8, seed=23):
        g = torch.Generator().manual_seed(seed)
        energy = torch.rand(n, 1, 1, generator=g)
        self.x = energy + 0.5 * torch.randn(n, length, bands, generator=g)
        self.y = (energy[:, 0, 0] + 0.1 * torch.randn(n, generator=g) < 0.5).float()

    def __iter__(self):
        for x, y in zip(self.x.split(32), self.y.split(32)):
            yield x, y


def train():
    torch.manual_seed(1)
    tracks, net = Tracks(), SkipNet()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(4):
        total, n = 0.0, 0
        for batch, (x, y) in enumerate(tracks):
            loss = F.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item() * len(x), n + len(x)
            if batch % 5 == 0:
                print(f"epoch {epoch} batch {batch:2d} loss {loss.item():.4f}")
    return total / n


print(f"final loss {train():.4f}")
