"""Programs whose loops end early, and what is behind, due in, or counted by them."""

from __future__ import annotations

HEAD = """
import itertools
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def step():
    optimizer.zero_grad()
    F.cross_entropy(net(torch.randn(8, 4)), torch.zeros(8).long()).backward()
    optimizer.step()

# The first step of all takes long, and a slow pass is not made again.
step()
seen = set()
"""
# How many of the passes that they ask for are steps, at least.
BY_HAND = {
    "data_in_place": """
for i in range(100_000):
    net.zero_grad()
    F.cross_entropy(net(torch.randn(8, 4)), torch.zeros(8).long()).backward()
    for p in net.parameters():
        p.data.add_(p.grad, alpha=-0.1)
""",
    "without_gradients": """
w = torch.randn(4, 3, requires_grad=True)
for i in range(100_000):
    (torch.randn(8, 4) @ w).square().mean().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""",
    "other_data": """
w = torch.randn(4, 3, requires_grad=True)
for i in range(100_000):
    (torch.randn(8, 4) @ w).square().mean().backward()
    w.data = w.data - 0.1 * w.grad.data
    w.grad = None
""",
    "asked_for": """
w = torch.randn(4, 3, requires_grad=True)
for i in range(100_000):
    (g,) = torch.autograd.grad((torch.randn(8, 4) @ w).square().mean(), w)
    w.data -= 0.1 * g
""",
}
# Each is one step of the optimizer; the others are none.
NOT_BY_HAND = """
mean = nn.Linear(4, 3)
for i in range(3):
    step()
    for a, b in zip(mean.parameters(), net.parameters()):
        a.data.mul_(0.9).add_(b.data, alpha=0.1)
        b.data.clamp_(-1, 1)
F.cross_entropy(net(torch.randn(8, 4)), torch.zeros(8).long()).backward()
other = nn.Linear(4, 3)
other.weight.data.normal_()
"""
DUE = {
    "endless": """
at = 0
while True:
    if at % 250 == 0 and at > 0:
        seen.add("evaluated")
    step()
    at += 1
    if at > 5000:
        break
assert seen == {"evaluated"}
""",
    "loader": """
for epoch in range(3):
    for i, x in enumerate(DataLoader(torch.randn(4000, 4), 4)):
        step()
        if (i + 1) % 200 == 0:
            seen.add("saved")
        if not (i + 1) % 5000:
            seen.add("never, there are a thousand batches")
assert seen == {"saved"}
""",
    "epochs": """
count = 0
for epoch in range(1000):
    for i in range(5):
        step()
        count += 1
        if count % 777 == 0:
            seen.add(777)
        if i % 10 == 9:
            seen.add("never, there are five passes")
    if (epoch + 1) % 7 == 0:
        seen.add(7)
for i in range(40):
    step()
    if (i + 1) % 100 == 0:
        seen.add("never")
assert seen == {777, 7}
""",
    "elsewhere": """
class Trainer:
    at = 0

    def log(self):
        if self.at % 50 == 0 and self.at:
            seen.add("logged")

    def fit(self):
        for _ in itertools.count():
            step()
            self.at += 1
            self.log()

Trainer().fit()
assert seen == {"logged"}
""",
    "no_counter": """
width = 30
for i in range(100):
    step()
    if width % 4 == 0:
        seen.add("never")
    if "%d" % i == "-1":
        seen.add("never")
assert not seen
""",
}
# Ended by what a loop that was shortened did not come to; run for longer, they come to it.
TOO_SHORT = {
    "list": """
rare = []
for i in range(1500):
    step()
    if i in (20, 30):
        rare.append(i)
print(rare[0])
""",
    "rest": """
def train(first, last):
    losses = []
    for epoch in range(first, last):
        for _ in range(8):
            step()
        losses.append(epoch)
    return losses

print(max(a - b for a, b in zip(train(0, 10)[6:], train(6, 10))))
""",
}
GENERATES = """
import torch
from torch import nn

class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def forward(self, x):
        return self.net(x)

    @torch.no_grad()
    def generate(self, x, many):
        passes = 0
        for _ in range(many):
            x = self(x)
            passes += 1
        self.passes = passes
        return x
"""
