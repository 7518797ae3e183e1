import os, tempfile, torch
from torch import nn


def build():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    o = torch.optim.AdamW(m.parameters(), lr=1e-2)
    return m, o, torch.optim.lr_scheduler.StepLR(o, 3, 0.5)


X = torch.randn(128, 6, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] > 0).long()


def train(m, o, s, a, b):
    out = []
    for e in range(a, b):
        for i in torch.randperm(128).split(16):
            l = nn.functional.cross_entropy(m(X[i]), Y[i])
            o.zero_grad()
            l.backward()
            o.step()
        s.step()
        out.append(l.item())
    return out


f = os.path.join(tempfile.mkdtemp(), "f.pt")
ref = train(*build(), 0, 10)
m, o, s = build()
train(m, o, s, 0, 6)
torch.save(
    {"m": m.state_dict(), "o": o.state_dict(), "s": s.state_dict(), "rng": torch.get_rng_state(), "epoch": 6},
    f,
)
m, o, s = build()
c = torch.load(f)
m.load_state_dict(c["m"])
o.load_state_dict(c["o"])
s.load_state_dict(c["s"])
torch.set_rng_state(c["rng"])
print(max(abs(a - b) for a, b in zip(ref[6:], train(m, o, s, c["epoch"], 10))))
