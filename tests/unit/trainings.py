"""Trainings as users write them, for tests that put one into a folder of their own."""

from __future__ import annotations

# At step 9 the logarithm of zero, in line 9.
LOG_OF_ZERO = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(4, 8) * (step != 9)
    loss = net(x).pow(2).mean() + torch.log(x.abs()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
# The gradients of all steps are added up; what check says is about line 9.
NO_ZERO_GRAD = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(10):
    loss = model(torch.randn(2, 4)).mean()
    loss.backward()
    optimizer.step()
"""
ZERO_GRAD = NO_ZERO_GRAD.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")
