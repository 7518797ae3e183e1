# slow
# journals: 1
"""No for statement: comprehensions, map, reduce and recursion drive the steps; step is called indirectly."""
import functools
import operator

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
advance = getattr(optimizer, "st" + "ep")


def update(x):
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    advance()
    return repr(loss.item())


print([update(torch.randn(8, 4)) for _ in range(2)])
print({k: update(torch.randn(8, 4)) for k in "ab"}, list(map(update, torch.randn(2, 8, 4))))
print(functools.reduce(lambda total, x: total + [update(x)], torch.randn(2, 8, 4), []))
recurse = lambda n: n and (update(torch.randn(8, 4)), recurse(n - 1))
print(recurse(3))
for call in [operator.methodcaller("zero_grad"), lambda o: net(torch.ones(4)).backward(), operator.methodcaller("step")] * 2:
    call(optimizer)
torch.save(net.state_dict(), "final.pt")
