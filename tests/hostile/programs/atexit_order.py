# journals: 1
# expect-exit: 1
"""atexit handlers, a failing one and threads' own, around an uncaught exception."""
import atexit
import sys
import threading
import weakref

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
atexit.register(print, "first registered")
atexit.register(lambda: 1 / 0)
atexit.register(lambda: print("last error", sys.last_type.__name__, "loss" in globals()))
weakref.finalize(net, print, "model finalized")
threading._register_atexit(print, "threads' exit")
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    atexit.register(print, "registered at step", step, repr(loss.item()))
print("with no newline", end="")
raise ValueError("end")
