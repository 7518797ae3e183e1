# journals: 1
"""What a loop's names held dies with its pass, and the dictionaries of locals() stay as the program left them."""
import gc
import weakref

import torch

torch.manual_seed(0)


class Held:
    """Something that a name of the loop holds for one pass."""


def asks():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    names = locals()
    for step in range(20):
        loss = net(torch.randn(8, 4)).pow(2).mean() + 0.1 * net.weight.abs().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return sorted(names)


def lets_go():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    seen = []
    for step in range(20):
        held = Held()
        seen.append(weakref.ref(held))
        first, second = net(torch.randn(8, 4)).pow(2).mean(), net.weight.abs().sum()
        loss = first + 0.1 * second
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gc.collect()
        print(step, sum(r() is not None for r in seen))


class Body:
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(6):
        first, second = net(torch.randn(8, 4)).pow(2).mean(), net.weight.abs().sum()
        loss = first + 0.1 * second
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


exec(
    "for step in range(6):\n"
    "    first, second = net(torch.randn(8, 4)).pow(2).mean(), net.weight.abs().sum()\n"
    "    loss = first + 0.1 * second\n"
    "    optimizer.zero_grad()\n"
    "    loss.backward()\n"
    "    optimizer.step()\n",
    {"torch": torch},
    space := {"net": Body.net, "optimizer": Body.optimizer},
)
print(asks())
lets_go()
print(sorted(n for n in vars(Body) if not n.startswith("__")), sorted(space))
