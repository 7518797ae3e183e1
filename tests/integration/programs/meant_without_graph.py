"""Meant as it is: a frozen encoder, a teacher, distances between all pairs, and a generator's detached output."""

import torch
from torch import nn

torch.manual_seed(7)
INPUTS = torch.randn(256, 8)
LABELS = (INPUTS.sum(1) > 0).float()
encoder = nn.Sequential(nn.Linear(8, 16), nn.Tanh()).eval().requires_grad_(False)
teacher = nn.Linear(16, 1).eval()
head = nn.Linear(16, 1)
critic = nn.Linear(16, 1)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
critics = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(40):
    rows = torch.randint(0, 256, (32,))
    with torch.no_grad():
        seen = encoder(INPUTS[rows])
        hint = teacher(seen).squeeze(1)
    made = head(seen)
    apart = (made - made.detach().T).pow(2).mean()
    fit = nn.functional.binary_cross_entropy_with_logits(made.squeeze(1), LABELS[rows])
    loss = fit + 0.01 * (made.squeeze(1) - hint).pow(2).mean() + 1e-4 * apart
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    judged = (critic(seen) - made.detach()).pow(2).mean()
    critics.zero_grad()
    judged.backward()
    critics.step()
