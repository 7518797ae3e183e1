# journals: 1
"""Objects beside the loop that count, print or raise when anybody looks at them."""
import torch

torch.manual_seed(0)
touched = []


class Mine:
    def __getattribute__(self, name):
        if name == "__class__":
            return Mine
        touched.append(name)
        raise RuntimeError(f"touched {name}")

    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None

    def _refuse(self, *args):
        touched.append("special")
        raise RuntimeError("used")

    __bool__ = __iter__ = __len__ = __repr__ = __copy__ = __deepcopy__ = __reduce_ex__ = __getstate__ = _refuse


class Counting:
    def __init__(self):
        self.inner, self.reads = {"values": [1, 2]}, 0

    @property
    def state(self):
        touched.append("property")
        return torch.rand(1)

    def __getattr__(self, name):
        touched.append("missing " + name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        touched.append("set " + name)
        object.__setattr__(self, name, value)


class Watched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.mine = torch.nn.Linear(4, 1), Mine()

    def __setattr__(self, name, value):
        touched.append("module set " + name)
        super().__setattr__(name, value)

    def __getattr__(self, name):
        touched.append("module get " + name)
        return super().__getattr__(name)

    def forward(self, x):
        return self.layer(x)


def train(net, mine, counting, mines, one_shot):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(5):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        if step == 3:
            loss = loss * float("nan")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        counting.reads = counting.reads + next(one_shot)
        mine, mines = mine, [*mines]
        print(step, repr(loss.item()), len(touched))


train(Watched(), Mine(), Counting(), [Mine(), {"m": Mine()}], iter(range(100)))
print(touched)
