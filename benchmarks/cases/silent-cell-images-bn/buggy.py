import torch
from torch import nn


class CellNet(nn.Module):
    def __init__(self, p_drop=0.6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(p_drop), nn.Linear(24 * 9, 48), nn.ReLU(), nn.Dropout(p_drop), nn.Linear(48, 2))

    def forward(self, x):
        return self.classifier(self.features(x))


class Runner:
    def __init__(self, net, train_set, val_set, eval_every=25):
        self.net, self.train_set, self.val_set, self.eval_every = net, train_set, val_set, eval_every
        self.opt = torch.optim.Adam(net.parameters(), lr=2e-3)
        self.ce = nn.CrossEntropyLoss()
        self.net.train()

    def validate(self):
        self.net.eval()
        with torch.no_grad():
            x, y = self.val_set
            loss = self.ce(self.net(x), y).item()
        return loss

    def run(self, steps, batch=24):
        x, y = self.train_set
        for step in range(1, steps + 1):
            idx = torch.randint(0, len(x), (batch,))
            loss = self.ce(self.net(x[idx]), y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if step % self.eval_every == 0:
                val = self.validate()
                if step % 100 == 0:
                    print(f"step {step} train {loss.item():.4f} val {val:.4f}")
        return val


def cells(n, seed):
    g = torch.Generator().manual_seed(seed)
    nucleus = torch.randn(1, 12, 12, generator=torch.Generator().manual_seed(8))
    y = torch.randint(0, 2, (n,), generator=g)
    x = 0.22 * (2 * y.float() - 1)[:, None, None, None] * nucleus + torch.randn(n, 1, 12, 12, generator=g)
    flip = torch.rand(n, generator=g) < 0.08
    return x, torch.where(flip, 1 - y, y)


torch.manual_seed(14)
runner = Runner(CellNet(), cells(240, 0), cells(600, 1))
print(f"final val loss {runner.run(500):.4f}")
