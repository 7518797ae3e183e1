"""Meant as it is: the encoder waits for the head; another part counts and is never asked for a gradient."""

import torch
from torch import nn

torch.manual_seed(5)
INPUTS = torch.randn(256, 8)
LABELS = ((INPUTS[:, 0] * INPUTS[:, 1]) > 0).long()
encoder, head = nn.Sequential(nn.Linear(8, 32), nn.Tanh()), nn.Linear(32, 2)
watcher = nn.Linear(32, 2)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters(), *watcher.parameters()], lr=2e-2)
for step in range(160):
    rows = torch.randint(0, 256, (64,))
    seen = encoder(INPUTS[rows])
    if step < 80:
        seen = seen.detach()
    chosen = watcher(seen).argmax(1).tolist()
    loss = nn.functional.cross_entropy(head(seen), LABELS[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
