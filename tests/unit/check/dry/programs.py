"""Programs for the watchers: in a faulty one the line to report ends in ``# found SLUG``; a healthy one has none."""

from __future__ import annotations

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

def data(n=96, batch=16, shuffle=True, width=1):
    y = torch.randn(n) if width == 1 else torch.randint(0, width, (n,))
    return DataLoader(TensorDataset(torch.randn(n, 8), y), batch_size=batch, shuffle=shuffle)

def net(out=1):
    return nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, out))
"""

FAULTY = {
    "gradients": """
model, loader = net(3), data(width=3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(50):
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        opt.step()  # found missing-zero-grad
""",
    "cleared": """
model, loader = net(3), data(width=3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(50):
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        opt.zero_grad()  # found zero-grad-before-step
        opt.step()
""",
    "replaced": """
model, loader = net(3), data(width=5)
opt = torch.optim.Adam(model.parameters())
model[3] = nn.Linear(16, 5)
for epoch in range(50):
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()  # found optimizer-before-params-replaced
""",
    "listed": """
class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.more = {"a": nn.Linear(8, 8), "b": nn.Linear(8, 1)}  # found unregistered-submodules

    def forward(self, x):
        return self.more["b"](self.more["a"](self.first(x)))

model = Tower()
opt = torch.optim.Adam(model.parameters())
for step in range(500):
    opt.zero_grad()
    model(torch.randn(4, 8)).pow(2).mean().backward()
    opt.step()
""",
    "stuck": """
def score(model, loader):
    model.eval()  # found eval-mode-in-training
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)

model, loader = net(3), data(width=3)
opt = torch.optim.Adam(model.parameters())
for epoch in range(9):
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
    print(score(model, loader))
""",
    "noisy": """
model, loader, held_out = net(3), data(width=3), data(width=3, shuffle=False)
opt = torch.optim.Adam(model.parameters())
for epoch in range(9):
    model.train()
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in held_out)  # found missing-eval-mode
""",
    "probabilities": """
model, loader = net(3), data(width=3)
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    scores = torch.softmax(model(x), dim=1).view(-1, 3)
    F.cross_entropy(scores, y).backward()  # found softmax-before-cross-entropy
    opt.step()
""",
    "spread": """
model, loader = net(), data()
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    loss = (y - model(x)).pow(2).mean()  # found broadcast-in-loss
    loss.backward()
    opt.step()
""",
    "devices": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(8, 1), torch.ones(8)

    def forward(self, x):
        return self.layer(x * self.scale)  # found device-mismatch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = Model().to(device)
model(torch.randn(4, 8, device=device)).sum().backward()
""",
    "kept": """
model, loader = net(3), data(width=3)
opt = torch.optim.Adam(model.parameters())
total = 0
for x, y in loader:
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    total += loss  # found loss-history-keeps-graph
""",
    "gathered": """
model, loader = net(3), data(n=320, width=3)
opt = torch.optim.Adam(model.parameters())
for i, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y)
    loss.backward()  # found accumulation-not-divided
    if i % 5 == 4:
        opt.step()
        opt.zero_grad()
""",
    "detached": """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)

    @torch.no_grad()
    def features(self, x):
        return self.body(x)  # found detached-encoder

    def forward(self, x):
        return self.head(self.features(x))

model = Model()
opt = torch.optim.Adam(model.parameters())
for step in range(500):
    opt.zero_grad()
    model(torch.randn(4, 8)).pow(2).mean().backward()
    opt.step()
print(model.features(torch.randn(1, 8)).shape)
""",
    "half": """
model, loader = net(3).cuda(), data(width=3)
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
    loss.backward()  # found scaler-missing
    opt.step()
""",
    "schedule": """
model, loader = net(3), data(n=960, width=3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, 3, 0.1)
for epoch in range(12):
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
        plan.step()  # found scheduler-per-batch
""",
    "hooks": """
model, loader, seen = net(3), data(width=3), []
opt = torch.optim.Adam(model.parameters())
for epoch in range(50):
    model[0].register_forward_hook(lambda m, i, o: seen.append(o.shape))  # found forward-hooks-never-removed
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
""",
    "prefixed": """
model, loader = nn.DataParallel(net(3)), data(width=3)
opt = torch.optim.Adam(model.parameters())
for x, y in loader:
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
torch.save(model.state_dict(), "net.pt")
again = net(3)
again.load_state_dict(torch.load("net.pt"), strict=False)  # found module-prefix-strict-false
""",
    "unused": """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, x, second):
        return (self.second if second else self.first)(self.body(x))

dist.init_process_group("gloo", rank=0, world_size=2)
model = DistributedDataParallel(Heads())  # found ddp-unused-parameters
opt = torch.optim.Adam(model.parameters())
for step in range(50):
    opt.zero_grad()
    model(torch.randn(4, 8), step % 2).pow(2).mean().backward()
    opt.step()
""",
    "stepped_between": """
first, second = net(), net()
one = torch.optim.SGD(first.parameters(), lr=0.1)
for step in range(50):
    score = first(torch.randn(4, 8))
    score.pow(2).mean().backward(retain_graph=True)
    one.step()  # found optimizer-step-before-backward
    score.abs().mean().backward()
""",
    "changed": """
model = net()
opt = torch.optim.Adam(model.parameters())
for step in range(50):
    h = torch.sigmoid(model(torch.randn(4, 8)))
    h += 1  # found inplace-modified-saved-tensor
    h.mean().backward()
    opt.step()
""",
    "one_sample": """
model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4))
x = torch.randn(5, 8)
for step in range(9):
    for part in x.split(2):
        model(part)  # found batchnorm-small-batch
""",
    "double": """
import numpy as np
model = net()
model(torch.from_numpy(np.ones((4, 8))))  # found dtype-double-vs-float
""",
}
