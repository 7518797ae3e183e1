"""Attention scores in float16 grow past 65504 before they are scaled; with a GradScaler every step is then left out."""

import sys

import torch
from torch import nn

device, scaled = sys.argv[1], sys.argv[2] == "scaler"
fused = "fused" in sys.argv[3:]


class Attention(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, 4)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2)  # here
        weights = torch.softmax(scores / 8.0, -1)
        return self.out((weights @ self.v(x)).mean(1))


torch.manual_seed(0)
model = Attention().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
scaler = torch.amp.GradScaler(device, enabled=scaled)
for step in range(30):
    size = 1.0 if step < 6 else 400.0
    x = size * torch.randn(8, 32, 64, device=device)
    y = torch.randint(0, 4, (8,), device=device)
    optimizer.zero_grad()
    with torch.autocast(device, torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item(), flush=True)
