# journals: 1
# expect-exit: 130
"""Ctrl-C is caught once to save a checkpoint, the second one ends the program."""
import os
import signal

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    try:
        for step in range(4):
            loss = net(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            if step == 2:
                os.kill(os.getpid(), signal.SIGINT)
            optimizer.step()
            print(epoch, step, repr(loss.item()))
    except KeyboardInterrupt:
        torch.save(net.state_dict(), f"interrupted-{epoch}.pt")
        if epoch:
            raise
