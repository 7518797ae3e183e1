# journals: 1
# expect-exit: 7
"""The process leaves in the middle of the loop, past atexit and past every buffer."""
import atexit
import os

import torch

atexit.register(print, "never printed")
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), flush=step < 2)
    if step == 3:
        os._exit(7)
