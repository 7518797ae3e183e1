# slow
# journals: 1
"""A batch is dropped before backward, to free its memory: it must be gone at once."""
import weakref

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
weights = [weakref.ref(torch.ones(1))]


def data():
    for _ in range(4):
        x = torch.randn(8, 4)
        weights.append(weakref.ref(x))
        yield {"x": x, "mean": x.mean()}
        del x


for step, batch in enumerate(data()):
    target = batch.pop("mean")
    x = batch.pop("x").sum(0)
    print(step, [reference() is None for reference in weights])
    loss = (net(x) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
