# slow
# journals: 1
"""The stepping function is decorated, partially applied, cached, recursive and a static method."""
import contextlib
import functools

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("enter", function.__qualname__, args[1:], function.__code__.co_firstlineno)
        return function(*args, **kwargs)

    return wrapper


class Trainer:
    @staticmethod
    @traced
    def descend(depth, label):
        for index in range(depth):
            loss = net(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("  " * depth, label, repr(loss.item()))
            Trainer.descend(depth - 1, f"{label}.{index}")

    @contextlib.contextmanager
    def stepping(self, x):
        yield net(x).pow(2).mean()
        optimizer.step()

    @functools.singledispatchmethod
    @torch.enable_grad()
    def run(self, x):
        with self.stepping(x) as loss:
            optimizer.zero_grad()
            loss.backward()
        return repr(loss.item())


Trainer.descend(3, "0")
for step in range(3):
    print(functools.partial(Trainer().run, torch.randn(8, 4))())
torch.save(net.state_dict(), "final.pt")
