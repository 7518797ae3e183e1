# journals: 1
# send: SIGTERM
# expect-exit: 5
"""A scheduler sends SIGTERM to the process that it has started; the program saves and leaves."""
import signal
import sys
import time

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def save(number, frame):
    torch.save(net.state_dict(), "checkpoint.pt")
    print("saved on", signal.Signals(number).name)
    sys.exit(5)


signal.signal(signal.SIGTERM, save)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print("ready", flush=True)
time.sleep(20)
