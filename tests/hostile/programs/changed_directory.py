# slow
# journals: 1
"""The program changes folder, umask and the folder's existence while it trains."""
import os
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
os.makedirs("work/gone")
os.chdir("work/gone")
os.umask(0o077)
for step in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 1:
        os.rmdir("../gone")
    if step == 2:
        os.chdir(os.path.dirname(__file__))
        os.mkdir("private")
    print(step, repr(loss.item()), sys.argv[0] == __file__, os.path.exists(__file__))
torch.save(net.state_dict(), "private/final.pt")
