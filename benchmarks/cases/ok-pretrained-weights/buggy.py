import os, tempfile, torch
from torch import nn

torch.manual_seed(0)


def net():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))


def fit(m, x, y, epochs, lr=1e-2):
    o = torch.optim.Adam(m.parameters(), lr=lr)
    for e in range(epochs):
        for i in torch.randperm(len(x)).split(20):
            l = nn.functional.cross_entropy(m(x[i]), y[i])
            o.zero_grad()
            l.backward()
            o.step()
    print("loss", l.item())
    return e


f = os.path.join(tempfile.mkdtemp(), "pre.pt")
xa = torch.randn(400, 10)
ya = xa[:, :3].argmax(1)
m = net()
e = fit(m, xa, ya, 12)
torch.save({"model": m.state_dict(), "epoch": e}, f)
ck = torch.load(f)
print("pretrained for", ck["epoch"], "epochs")
m = net()
m.load_state_dict(ck["model"])
xb = torch.randn(100, 10)
yb = xb[:, 3:6].argmax(1)
fit(m, xb, yb, 15)
