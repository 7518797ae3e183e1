# slow
# journals: 1
# expect-exit: 42
"""SystemExit with a code is raised in a function that the loop calls, then again by atexit's order."""
import atexit

import torch

atexit.register(lambda: print("at exit", repr(loss.item())))
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def early_stop(step):
    if step == 2:
        raise SystemExit(42)


for step in range(5):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    early_stop(step)
