# journals: 1
# launch: python app --lr 1
"""The command names a folder, whose __main__ is run; modules beside it are imported."""
import sys

import torch
from steps import train

print(sys.argv, sys.path[0].rsplit("/", 1)[-1], __name__, __package__, __spec__.name, type(__loader__).__name__, __file__.rsplit("/", 1)[-1])
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    train(net, optimizer)
torch.save(net.state_dict(), "final.pt")
