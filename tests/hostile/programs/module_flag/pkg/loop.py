"""A module with a training loop: its cached byte code must be that of the file."""
import torch


def train(net, optimizer):
    for step in range(5):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), __spec__.name, __file__.rsplit("/", 1)[-1], type(__loader__).__name__)
