# slow
# journals: 1
# terminal: \x03
# expect-exit: 130
"""Ctrl-C on a terminal reaches the whole foreground group once."""
import os
import threading
import time

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    if step == 3:
        try:
            # Said while the main thread sleeps already.
            threading.Timer(0.3, os.write, (1, b"ready\n")).start()
            time.sleep(20)
        except KeyboardInterrupt:
            print("caught once")
            time.sleep(0.3)
            raise
    optimizer.step()
    print(step, repr(loss.item()))
