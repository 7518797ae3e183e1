"""Hand gestures from a wrist accelerometer, residual 1-D network."""
from functools import reduce

import torch
from torch import nn
from torch.nn import functional as F

PLAN = [  # channels, stride, dilation
    (24, 1, 1),
    (32, 2, 1),
    (32, 1, 2),
    (48, 2, 1),
]


class Residual(nn.Module):
    def __init__(self, cin, cout, stride, dilation):
        super().__init__()
        self.a = nn.Conv1d(cin, cout, 3, stride=stride, padding=dilation, dilation=dilation)
        self.b = nn.Conv1d(cout, cout, 3, padding=1)
        self.norm_a, self.norm_b = nn.GroupNorm(4, cout), nn.GroupNorm(4, cout)
        same = cin == cout and stride == 1
        self.match = nn.Identity() if same else nn.Conv1d(cin, cout, 1, stride=stride)

    def forward(self, x):
        y = F.gelu(self.norm_a(self.a(x)))
        y = self.norm_b(self.b(y))
        return F.gelu(y + self.match(x))


class GestureNet(nn.Module):
    def __init__(self, plan, gestures):
        super().__init__()
        self.stem = nn.Conv1d(3, plan[0][0], 5, padding=2)
        inputs = [plan[0][0]] + [channels for channels, _, _ in plan[:-1]]
        self.blocks = nn.ModuleList(Residual(cin, *spec) for cin, spec in zip(inputs, plan))
        self.out = nn.Linear(plan[-1][0], gestures)

    def forward(self, x):
        x = reduce(lambda h, block: block(h), self.blocks, self.stem(x))
        return self.out(x.amax(-1))


def wrist(n, length=96, gestures=4, seed=0):
    g = torch.Generator().manual_seed(seed)
    which = torch.randint(0, gestures, (n,), generator=g)
    t = torch.linspace(0, 1, length)
    tempo = (which + 1.0)[:, None] * (0.9 + 0.2 * torch.rand(n, 1, generator=g))
    phase = torch.rand(n, 1, generator=g) * 6.28
    swing = torch.sin(6.28 * tempo * t + phase)
    axes = torch.stack([swing, swing.roll(8, -1), swing ** 2 - 0.5], dim=1)
    return axes + 0.4 * torch.randn(n, 3, length, generator=g), which


def main():
    torch.manual_seed(5)
    x, y = wrist(600)
    net = GestureNet(PLAN, gestures=4)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    print("blocks:", len(net.blocks), "windows:", tuple(x.shape))
    for epoch in range(3):
        epoch_loss = 0.0
        for rows in torch.randperm(len(x)).chunk(15):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[rows]), y[rows])
            loss.backward()
            opt.step()
            epoch_loss += loss.item() / 15
        print(f"epoch {epoch} loss {epoch_loss:.4f}")
    print(f"final loss {epoch_loss:.4f}")


if __name__ == "__main__":
    main()
