# journals: 1
# expect-exit: 9
"""The trained process becomes another program, which is Python again and ends with a code of its own."""
import os
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
    print(step, repr(loss.item()), flush=True)
after = "import os, sys; print('after', sys.argv, os.path.exists('train.pt')); sys.exit(9)"
torch.save(net.state_dict(), "train.pt")
os.execv(sys.executable, [sys.executable, "-c", after, "one"])
