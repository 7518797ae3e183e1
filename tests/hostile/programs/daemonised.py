# journals: 2
# expect-exit: 4
"""A daemon by the book (fork, setsid, fork) goes on training after the command has ended, and keeps standard output."""
import os
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def train(name):
    for step in range(3):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(name, step, repr(loss.item()), flush=True)


train("before")
reading, writing = os.pipe()
if os.fork():
    os.close(writing)
    # One order of the lines: the daemon has begun when the command ends.
    os.read(reading, 1)
    sys.exit(4)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
os.close(0)
torch.set_num_threads(1)
os.close(writing)
train("daemon")
print("daemon", os.getsid(0) != os.getpid(), flush=True)
