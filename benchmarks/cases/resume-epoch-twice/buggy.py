import tempfile, os, torch
from torch import nn


def data(epoch, n=256):
    return torch.randperm(n, generator=torch.Generator().manual_seed(500 + epoch)).split(32)


def new():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
    return m, torch.optim.Adam(m.parameters(), lr=3e-3)


X = torch.randn(256, 8, generator=torch.Generator().manual_seed(2))
Y = X[:, :3].argmax(1)


def save(path, m, o, epoch):
    torch.save({"m": m.state_dict(), "o": o.state_dict(), "epoch": epoch}, path)


def load(path, m, o):
    s = torch.load(path)
    m.load_state_dict(s["m"])
    o.load_state_dict(s["o"])
    return s["epoch"]


def fit(m, o, start, end, path=None):
    n = 0
    for epoch in range(start, end):
        for i in data(epoch):
            o.zero_grad()
            l = nn.functional.cross_entropy(m(X[i]), Y[i])
            l.backward()
            o.step()
            n += 1
        if path:
            save(path, m, o, epoch)
    return n, l.item()


p = os.path.join(tempfile.mkdtemp(), "x.pt")
m, o = new()
a, _ = fit(m, o, 0, 5, p)
m, o = new()
b, last = fit(m, o, load(p, m, o), 9)
print("steps", a + b, "expected", 9 * 8, "loss", last)
