# journals: 1
"""Random numbers from every kind of generator, each in another place; their states are printed."""
import hashlib
import random

import numpy
import torch

torch.manual_seed(0)
random.seed(1)
numpy.random.seed(2)


class Data:
    def __init__(self):
        self.sources = {"torch": torch.Generator().manual_seed(3), "numpy": [numpy.random.default_rng(4)]}
        self.python = random.Random(5)


data, legacy = Data(), numpy.random.RandomState(6)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    x = torch.randn(8, 4, generator=data.sources["torch"]) + torch.randn(4)
    x += float(data.sources["numpy"][0].normal()) + data.python.random() + random.gauss(0, 1)
    x *= float(legacy.rand()) + float(numpy.random.rand())
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    states = repr((torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state(), data.python.getstate()))
    print(step, repr(loss.item()), hashlib.sha256(states.encode()).hexdigest())
print(data.sources["numpy"][0].bit_generator.state["state"], torch.initial_seed())
torch.save(net.state_dict(), "final.pt")
