from types import SimpleNamespace

import torch
from torch import nn

cfg = SimpleNamespace(channels=6, steps=40, classes=3, hidden=40, lr=3e-3, batch=50, epochs=7)


def gait(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, cfg.classes, (n,), generator=g)
    t = torch.arange(cfg.steps).float()
    freq = torch.tensor([0.2, 0.35, 0.5])[y][:, None, None]
    phase = 6.28 * torch.rand(n, 1, cfg.channels, generator=g)
    x = torch.sin(freq * t[None, :, None] + phase) + 0.4 * torch.randn(n, cfg.steps, cfg.channels, generator=g)
    return x, y


class GaitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(cfg.channels, cfg.hidden)
        self.out = nn.Linear(cfg.hidden, cfg.classes)

    def forward(self, x):
        b, t, c = x.shape
        x = x.transpose(0, 1)
        _, h = self.gru(x)
        return self.out(h[-1])


class Experiment:
    def __init__(self):
        torch.manual_seed(9)
        self.train_x, self.train_y = gait(1500, 1)
        self.test_x, self.test_y = gait(500, 2)
        self.net = GaitNet()
        self.optim = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def batches(self):
        order = torch.randperm(len(self.train_x))
        for i in range(0, len(order), cfg.batch):
            j = order[i:i + cfg.batch]
            yield self.train_x[j], self.train_y[j]

    def go(self):
        for epoch in range(cfg.epochs):
            for x, y in self.batches():
                self.optim.zero_grad()
                loss = self.loss_fn(self.net(x), y)
                loss.backward()
                self.optim.step()
            print("epoch", epoch, "loss %.3f" % loss.item(), "test loss %.3f" % self.test())

    def test(self):
        with torch.no_grad():
            return self.loss_fn(self.net(self.test_x), self.test_y).item()


e = Experiment()
e.go()
print("final test loss %.4f" % e.test())
