# journals: 1
"""Functions, classes, lambdas and imports are made anew in every turn of the loop."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def train():
    kept = []
    for step in range(3):
        from math import tau as turn

        class Scale:
            """Made in the loop."""

            factor: float = step + turn

            def __call__(self, x):
                return __class__.factor * x * step

        def criterion(x, *, scale=Scale(), bias: "annotated" = step):
            return (scale(net(x)) + bias).pow(2).mean()

        kept.append(lambda: (step, loss.item()))
        loss = criterion(torch.randn(8, 4))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(Scale.__qualname__, criterion.__qualname__, criterion.__code__.co_freevars, criterion.__annotations__, Scale.__doc__)
        print(criterion.__code__.co_firstlineno, kept[0].__code__.co_firstlineno, Scale.__call__.__qualname__)
    return [repr(function()) for function in kept]


print(train(), train.__code__.co_cellvars)
torch.save(net.state_dict(), "final.pt")
