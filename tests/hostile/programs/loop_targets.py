# journals: 1
"""Loop targets that are attributes, items, starred and nested; the iterable is touched only once."""
import types

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
space, table, cells = types.SimpleNamespace(), {}, [0, 0]


def data(count):
    print("iterable made")
    for index in range(count):
        yield index, (torch.randn(8, 4), "a", "b", [index]), index * 2


def step_on(x):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return repr(loss.item())


for space.index, (table["x"], *rest, [cells[space.index]]), twice in data(2):
    print(step_on(table["x"]), space, rest, cells, twice)
for optimizer.custom, in [(1,), (2,)]:
    print(step_on(torch.randn(8, 4)), optimizer.custom)
for x, in (batches := iter([(torch.randn(8, 4),), (torch.ones(8, 4),), (torch.zeros(8, 4),)])):
    print(step_on(x))
    print(step_on(next(batches)[0]), next(batches, "empty") != "empty")
    next(batches, None)
