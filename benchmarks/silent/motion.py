import os

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, width), nn.Tanh())
        self.body = nn.LSTM(width, width, batch_first=True)
        self.place, self.kind = nn.Linear(width, 2), nn.Linear(width, 4)

    def forward(self, x):
        h = self.encoder(x)
        h = self.body(h)[0][:, -1]
        return self.place(h), self.kind(h)


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 4, (n,), generator=g)
    turn = torch.tensor([0.1, 0.4, -0.1, -0.4])[kind]
    angle = 6.28 * torch.rand(n, 1, generator=g) + turn[:, None] * torch.arange(12)
    path = torch.stack([angle.cos(), angle.sin()], -1)
    noise = 0.4 * torch.randn(n, 12, 4, generator=g)
    return torch.cat([path + 0.2 * torch.randn(n, 12, 2, generator=g), noise], -1), path[:, -1] * 2, kind


def loss_of(model, x, place, kind):
    out, logits = model(x)
    first = nn.functional.mse_loss(out, place)
    second = nn.functional.cross_entropy(logits, kind)
    return first + second


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    x, place, kind = make(900, 1)
    held_out = make(300, 2)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for epoch in range(9):
        for i in torch.randperm(len(x)).split(30):
            optimizer.zero_grad()
            loss = loss_of(model, x[i], place[i], kind[i])
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"final loss {loss_of(model, *held_out).item():.4f}")


main()
