# slow
# journals: 1
"""The training loop stands in the body of a class, in a metaclass's namespace that logs every name."""
import torch

torch.manual_seed(0)
log = []


class Namespace(dict):
    def __setitem__(self, key, value):
        log.append(key)
        super().__setitem__(key, value)

    def __missing__(self, key):
        log.append("missing " + key)
        raise KeyError(key)


class Meta(type):
    @classmethod
    def __prepare__(cls, name, bases):
        return Namespace()


class Experiment(metaclass=Meta):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(3):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))


print(log)
print(sorted(vars(Experiment)))
