# journals: 1
# expect-exit: 1
"""A module calls itself without end; the depth that is reached and the shortened traceback are the plain ones."""
import sys

import torch


class Endless(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.depth = 0

    def deep(self, x):
        self.depth += 1
        return self.deep(x)

    def forward(self, x, endless):
        return self.layer(self.deep(x) if endless else x)


torch.manual_seed(0)
net = Endless()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    try:
        loss = net(torch.randn(8, 4), step == 2).pow(2).mean()
    except RecursionError as error:
        print(step, net.depth, sys.getrecursionlimit(), error)
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
net(torch.randn(8, 4), True)
