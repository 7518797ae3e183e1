# journals: 1
# terminal: yes\n
"""On a terminal: its size, its foreground group, and a question that is answered."""
import os
import shutil
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
print([os.isatty(n) for n in range(3)], sys.stdout.line_buffering, shutil.get_terminal_size(), os.ttyname(0) == os.ttyname(2))
print(os.tcgetpgrp(0) == os.getpgrp())
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("\r", step, repr(loss.item()), end="", file=sys.stderr)
print("\nready")
print("answer", repr(input("go on? ")))
