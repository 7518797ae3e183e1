# slow
# journals: 1
# expect-exit: 137
"""SIGKILL in the middle of the loop, as the kernel sends it when memory is out."""
import os
import signal

import torch

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
        os.kill(os.getpid(), signal.SIGKILL)
