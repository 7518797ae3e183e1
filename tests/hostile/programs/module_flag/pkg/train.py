# journals: 1
# launch: python -m pkg.train --lr 0.1
"""Started with -m, with relative imports; the marked loop is in the module and in __main__."""
import sys

import torch

from . import loop
from .model import build

print(sys.argv[1:], sys.argv[0] == __file__, __name__, __package__, __spec__.name, __spec__.origin == __file__)
print(sys.path[0], type(__loader__).__name__, __cached__.rsplit("/", 1)[-1], __doc__)
torch.manual_seed(0)
net = build()
optimizer = torch.optim.SGD(net.parameters(), lr=float(sys.argv[2]))
loop.train(net, optimizer)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
torch.save(net.state_dict(), "final.pt")
