"""A bad row is drawn at another step in each run, by a function that takes the step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_step(net, opt, x):
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    return loss.item()


rows = torch.linspace(-1, 1, 2000).reshape(500, 4).clone()
rows[40, 2] = float("nan")
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(rows), batch_size=8, shuffle=True):
        train_step(net, opt, x)
