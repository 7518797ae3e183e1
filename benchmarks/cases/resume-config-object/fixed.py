import os, tempfile, torch
from torch import nn


class Config:
    def __init__(self, width, lr):
        self.width, self.lr = width, lr


def build(c):
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(4, c.width), nn.ReLU(), nn.Linear(c.width, 1))
    return m, torch.optim.Adam(m.parameters(), c.lr)


def fit(m, o, n):
    for s in range(n):
        x = torch.randn(32, 4, generator=torch.Generator().manual_seed(s))
        l = (m(x) - x.sum(1, keepdim=True)).pow(2).mean()
        o.zero_grad()
        l.backward()
        o.step()
    return l.item()


def save(path, m, o, c):
    torch.save({"model": m.state_dict(), "opt": o.state_dict(), "config": c}, path)


def restore(path):
    torch.serialization.add_safe_globals([Config])
    state = torch.load(path)
    m, o = build(state["config"])
    m.load_state_dict(state["model"])
    o.load_state_dict(state["opt"])
    return m, o


path = os.path.join(tempfile.mkdtemp(), "a.pt")
c = Config(16, 1e-2)
m, o = build(c)
print(fit(m, o, 40))
save(path, m, o, c)
m, o = restore(path)
print(fit(m, o, 10))
