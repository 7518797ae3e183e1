# slow
# journals: 1
"""Raw bytes on stdout, mixed with text and with writes past Python's buffer."""
import os
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("text", step)
    sys.stdout.buffer.write(loss.detach().numpy().tobytes() + b"\xff\xfe\x00\r\n")
    os.write(1, b"unbuffered %d\n" % step)
    os.write(2, b"error %d\n" % step)
sys.stdout.write("no newline at the end")
