import itertools
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.rnn = nn.GRU(1, h, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[1]


class Decoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.cell, self.out = nn.GRUCell(1, h), nn.Linear(h, 1)

    def forward(self, h, last, steps):
        h, ys = h[0], []
        for _ in range(steps):
            h = self.cell(last, h)
            last = self.out(h)
            ys.append(last)
        return torch.cat(ys, 1)


def waves(n, g):
    t = torch.arange(26).float()
    f = 0.2 + 0.6 * torch.rand(n, 1, generator=g)
    return torch.sin(f * t + 6.28 * torch.rand(n, 1, generator=g)) * (0.5 + torch.rand(n, 1, generator=g))


def train(n_iter=210, h=32):
    g = torch.Generator().manual_seed(0)
    enc, dec = Encoder(h), Decoder(h)
    opt = torch.optim.Adam(enc.parameters(), lr=5e-3)
    mse, recent = nn.MSELoss(), []
    for it in range(1, n_iter + 1):
        w = waves(64, g)
        past, future = w[:, :20], w[:, 20:]
        pred = dec(enc(past.unsqueeze(-1)), past[:, -1:], 6)
        loss = mse(pred, future)
        enc.zero_grad()
        dec.zero_grad()
        loss.backward()
        opt.step()
        recent.append(loss.item())
        if it % 70 == 0:
            print(f"it {it} mse {sum(recent[-30:]) / 30:.4f}")
    return sum(recent[-30:]) / 30


torch.manual_seed(0)
print(f"final mse {train():.4f}")
