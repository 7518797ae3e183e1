import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.Conv1d(16, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.g = nn.Linear(32, 16)

    def forward(self, x):
        return F.normalize(self.g(self.f(x)), dim=1)


def motion(n, gen):
    t = torch.arange(32).float()
    f = 0.2 + torch.rand(n, 3, 1, generator=gen)
    return torch.sin(f * t + 6.28 * torch.rand(n, 3, 1, generator=gen))


def augment(x):
    x = x * (0.8 + 0.4 * torch.rand(len(x), 1, 1)) + 0.1 * torch.randn_like(x)
    return torch.roll(x, int(torch.randint(0, 8, ())), dims=-1)


def info_nce(a, b, temperature=0.2):
    logits = a @ b.t() / temperature
    target = torch.arange(len(a))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def main():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(7)
    data = motion(1500, gen)
    encoder = Encoder()
    opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    for epoch in range(1, 9):
        total = 0.0
        for idx in torch.randperm(1500).split(75):
            loss = info_nce(encoder(augment(data[idx])), encoder(augment(data[idx])))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} nce {total / 20:.4f}")
    print(f"final nce {total / 20:.4f}")


main()
