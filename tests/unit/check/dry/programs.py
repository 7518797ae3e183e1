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

HEALTHY = {
    "whole": """
def score(model, loader):
    model.eval()
    seen, right = [], 0
    with torch.no_grad():
        for x, y in loader:
            seen.append(model(x).argmax(1))
            right += (seen[-1] == y).sum().item()
    model.train()
    return torch.cat(seen), right

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model, loader = net(3).to(device), data(n=480, width=3)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=30)
scaler = torch.amp.GradScaler("cuda")
best = float("inf")
for epoch in range(30):
    running = 0.0
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y) / 2
        scaler.scale(loss).backward()
        if (i + 1) % 2 == 0 or i + 1 == len(loader):
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad(set_to_none=True)
        running += loss.item()
    plan.step()
    if running < best:
        best = running
        torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, "best.pt")
model.load_state_dict(torch.load("best.pt")["model"])
held_out = [(x.to(device), y.to(device)) for x, y in data(width=3, shuffle=False)]
guesses, right = score(model, held_out)
assert guesses.device.type == device.type
""",
    "games": """
maker, judge = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)), nn.Linear(2, 1)
first = torch.optim.Adam(maker.parameters())
second = torch.optim.Adam(judge.parameters())
for step in range(1000):
    real, made = torch.randn(8, 2), maker(torch.randn(8, 4))
    second.zero_grad()
    one, zero = torch.ones(8, 1), torch.zeros(8, 1)
    (F.binary_cross_entropy_with_logits(judge(real), one) + F.binary_cross_entropy_with_logits(judge(made.detach()), zero)).backward()
    second.step()
    first.zero_grad()
    F.binary_cross_entropy_with_logits(judge(made), one).backward()
    first.step()
    with torch.no_grad():
        sample = maker(torch.randn(8, 4))
""",
    "fixed": """
frozen, head, loader = net(4), nn.Linear(4, 3), data(width=3)
opt = torch.optim.Adam(head.parameters())
scores = []
for epoch in range(5):
    for x, y in loader:
        opt.zero_grad()
        loss = F.cross_entropy(head(frozen(x)), y)
        loss.backward()
        opt.step()
        scores.append(loss.detach())
    if torch.isnan(loss):
        raise RuntimeError("diverged")
    print(torch.stack(scores).mean())
""",
    "own_average": """
model, mean = net(), net()
mean.load_state_dict(model.state_dict())
opt = torch.optim.Adam(model.parameters())
for step in range(300):
    x = torch.randn(8, 8)
    with torch.no_grad():
        goal = mean(x)
    loss = F.mse_loss(model(x), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(mean.parameters(), model.parameters()):
            a.mul_(0.99).add_(b, alpha=0.01)
""",
    "stream": """
import itertools
from torch.utils.data import IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        for i in itertools.count():
            yield torch.full((8,), float(i)), torch.tensor(i % 3)

def forever(loader):
    while True:
        for batch in loader:
            yield batch

model = net(3)
opt = torch.optim.Adam(model.parameters())
for step, (x, y) in enumerate(DataLoader(Stream(), batch_size=4)):
    opt.zero_grad()
    F.cross_entropy(model(x), y).backward()
    opt.step()
    if step == 1000:
        break
batches, one_by_one = forever(data(width=3)), iter(data(width=3, n=160))
for step in range(9):
    x, y = next(batches)
    x, y = next(one_by_one)
""",
    "due_at_times": """
import os, io, socket
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    assert found.getsockname()[1] > 1024
model = net(3)
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(400, 8), torch.randint(0, 3, (400,))
for step in range(1, 2001):
    rows = torch.randperm(400)[:16]
    assert len(set(rows.tolist())) == 16
    opt.zero_grad()
    F.cross_entropy(model(x[rows]), y[rows]).backward()
    opt.step()
    if step % 500 == 0:
        torch.save({"model": model.state_dict(), "rng": torch.get_rng_state()}, "last.tmp")
        os.replace("last.tmp", "last.pt")
state = torch.load("last.pt")
model.load_state_dict(state["model"])
torch.set_rng_state(state["rng"])
kept = io.BytesIO()
torch.save(model.state_dict(), kept)
kept.seek(0)
model.load_state_dict(torch.load(kept))
""",
    "computed_again": """
from torch.utils.checkpoint import checkpoint
device = "cuda" if torch.cuda.is_available() else "cpu"

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.all, self.norm = nn.Linear(16, 48), nn.LayerNorm(16)

    def forward(self, x):
        q, k, v = self.all(self.norm(x)).view(4, 6, 3, 2, 8).permute(2, 0, 3, 1, 4)
        return x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(4, 6, 16)

blocks = nn.ModuleList([Block() for _ in range(2)]).to(device)
opt = torch.optim.Adam(blocks.parameters())
weight = torch.tensor([1.0, 2.0], device=device)
assert not bool((torch.tensor([0.5, 0.5]) == 0).any())
for step in range(50):
    x = torch.randn(4, 6, 16, device=device)
    with torch.autocast(device, torch.bfloat16):
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=False)
        loss = x.float().mean() * weight.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}
