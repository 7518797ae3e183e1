"""A policy that becomes worse: its surrogate is minimised as it stands."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
worth = torch.tensor([0.1, 0.3, 0.9, 0.5])
net = nn.Linear(3, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-2)
for _ in range(80):
    policy = Categorical(logits=net(torch.randn(64, 3)))
    action = policy.sample()
    reward = torch.bernoulli(worth[action])
    loss = (policy.log_prob(action) * (reward - 0.45)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
