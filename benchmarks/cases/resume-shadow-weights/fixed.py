import os, tempfile, torch, copy
from torch import nn


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.named_parameters()}

    def update(self, model):
        for k, v in model.named_parameters():
            self.shadow[k].mul_(self.decay).add_(v.detach(), alpha=1 - self.decay)


class Fit:
    def __init__(self):
        torch.manual_seed(3)
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.ema = EMA(self.net, 0.99)
        self.step = 0

    def save(self, path):
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "step": self.step, "ema": self.ema.shadow}, path)

    def load(self, path):
        blob = torch.load(path, map_location="cpu")
        self.net.load_state_dict(blob["net"])
        self.opt.load_state_dict(blob["opt"])
        self.step = blob["step"]
        self.ema.shadow.update(blob["ema"])

    def go(self, n):
        while self.step < n:
            g = torch.Generator().manual_seed(self.step)
            x = torch.randn(32, 4, generator=g)
            loss = (self.net(x) - x.abs().sum(1, keepdim=True)).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.ema.update(self.net)
            self.step += 1


path = os.path.join(tempfile.mkdtemp(), "c.pt")
one = Fit()
one.go(100)
one.save(path)
two = Fit()
two.load(path)
two.go(130)
print("shadow norm", sum(v.norm().item() for v in two.ema.shadow.values()))
