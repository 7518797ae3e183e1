# slow
# journals: 1
# python: 3.11
# expect-exit: 1
"""Exception groups around, inside and out of the training loop."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    try:
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if step == 1:
            raise ExceptionGroup("two", [ValueError("a"), ExceptionGroup("inner", [TypeError("b")])])
    except* ValueError as group:
        print("values", group.exceptions)
    except* TypeError as group:
        print("types", group)
    else:
        optimizer.step()
    print(step, repr(loss.item()), "group" in globals())
    if step == 3:
        raise ExceptionGroup("last", [ValueError("c"), KeyError(step)])
