# journals: 1
"""Text waits in buffers when the step fails: it comes out once, at its own place among raw writes."""
import atexit
import os
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
log = open("log.txt", "w")
atexit.register(lambda: os.write(1, b"at exit\n"))
for step in range(5):
    print("buffered", step, end=";")
    log.write(f"{step};")
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 2 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    os.write(1, b"raw %d\n" % step)
    print(os.path.getsize("log.txt"), repr(loss.item()), file=sys.stderr)
