"""Programs that tempt the watchers: right ones, of which none may say a word."""

from __future__ import annotations

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
with socket.socket(family=socket.AF_INET, type=socket.SOCK_STREAM) as named:
    named.bind(("", 0))
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
