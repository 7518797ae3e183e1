# slow
# journals: 1
# launch: python -X dev -X utf8=1 {file}
"""Development mode: files and sockets left open are told on stderr."""
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
left_open = open("left open.txt", "w")
print(sys.flags.dev_mode, sys.flags.utf8_mode, sys._xoptions)
