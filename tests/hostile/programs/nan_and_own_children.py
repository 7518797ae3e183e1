# journals: 1
"""The program reaps its children by wait() and a SIGCHLD handler: it must see none but its own."""
import os
import signal

import torch

children = []


def reaped(number, frame):
    children.append("signal")


signal.signal(signal.SIGCHLD, reaped)
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    if step == 1:
        child = os.fork()
        if child == 0:
            os._exit(3)
        print("own child", os.waitpid(child, 0)[1] >> 8)
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 3 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), children)
try:
    print(os.wait())
except ChildProcessError:
    print("no children left")
print(signal.getsignal(signal.SIGCHLD).__name__, children)
