import random, tempfile, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build():
    torch.manual_seed(7)
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 4))
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(320, 10, generator=g)
    y = x[:, :4].argmax(1)
    return net, opt, DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)


def train(net, opt, loader, first, last):
    log = []
    for epoch in range(first, last):
        net.train()
        s = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            s += loss.item()
        log.append(s / len(loader))
        print(epoch, log[-1])
    return log


file = tempfile.NamedTemporaryFile(suffix=".pt").name
net, opt, loader = build()
straight = train(net, opt, loader, 0, 8)
net, opt, loader = build()
train(net, opt, loader, 0, 4)
checkpoint = {"net": net.state_dict(), "opt": opt.state_dict(), "epoch": 4, "rng": torch.get_rng_state()}
torch.save(checkpoint, file)
net, opt, loader = build()
checkpoint = torch.load(file)
net.load_state_dict(checkpoint["net"])
opt.load_state_dict(checkpoint["opt"])
torch.set_rng_state(checkpoint["rng"])
resumed = train(net, opt, loader, checkpoint["epoch"], 8)
print("difference", max(abs(a - b) for a, b in zip(straight[4:], resumed)))
