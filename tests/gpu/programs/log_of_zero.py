"""Probabilities underflow to 0 in step 7, and their logarithm is taken: a NaN under each kind of AdamW."""

import sys

import torch
from torch import nn

device, kind = sys.argv[1], sys.argv[2]
quiet = "quiet" in sys.argv[3:]
options = {"fused": {"fused": True}, "foreach": {"foreach": True}, "capturable": {"capturable": True}}[kind]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 8)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **options)
generator = torch.Generator().manual_seed(1)
for step in range(20):
    x = torch.randn(64, 16, generator=generator).to(device)
    y = torch.randint(0, 8, (64,), generator=generator).to(device)
    size = 1e4 if step == 7 else 1.0
    optimizer.zero_grad()
    probabilities = torch.softmax(size * model(x), -1)
    logs = probabilities.log()  # here
    loss = -(nn.functional.one_hot(y, 8) * logs).sum(-1).mean()
    loss.backward()
    optimizer.step()
    if not quiet:
        print(step, loss.item(), flush=True)
print("parameters finite:", all(bool(p.isfinite().all()) for p in model.parameters()))
