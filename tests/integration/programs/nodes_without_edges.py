"""A graph whose normalisation divides by the degree of nodes, some of which have no edge."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
kind = torch.randint(0, 3, (120,))
edges = ((kind[:, None] == kind[None, :]) & (torch.rand(120, 120) < 0.1)).float()
edges[-4:] = 0
edges[:, -4:] = 0
features = F.one_hot(kind, 3) + torch.randn(120, 3)


def normalised(adjacency):
    degree = adjacency.sum(1)
    root = torch.diag(degree**-0.5)
    return root @ adjacency @ root


spread = normalised(edges)
net = nn.Linear(6, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    out = net(torch.cat([features, spread @ features], 1))
    loss = F.cross_entropy(out, kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
