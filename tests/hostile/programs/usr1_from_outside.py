# slow
# journals: 1
# send: SIGUSR1
# expect-exit: 6
"""A scheduler warns by SIGUSR1 before it kills."""
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
    sys.exit(6)


signal.signal(signal.SIGUSR1, save)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print("ready", flush=True)
time.sleep(20)
