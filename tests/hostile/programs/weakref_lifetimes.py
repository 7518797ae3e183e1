# journals: 1
"""Batches, losses and graphs die when the program lets go of them."""
import gc
import weakref

import torch

torch.manual_seed(0)


class Batch:
    def __init__(self, x):
        self.x = x

    def __del__(self):
        print("batch freed")


class Model(torch.nn.Linear):
    def __del__(self):
        print("model freed")


def train():
    net = Model(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    old = []
    for step in range(4):
        batch = Batch(torch.randn(8, 4))
        loss = net(batch.x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), [reference() is None for reference in old])
        old = [weakref.ref(batch), weakref.ref(batch.x), weakref.ref(loss)]
        del batch, loss
        print("after del", [reference() is None for reference in old])
    return [*old, weakref.ref(net), weakref.ref(optimizer), weakref.ref(net.weight)]


references = train()
print("returned", [reference() is None for reference in references])
gc.collect()
print("collected", [reference() is None for reference in references])
