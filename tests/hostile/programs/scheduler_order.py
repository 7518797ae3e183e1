# slow
# journals: 1
"""Schedulers wrap optimizer.step and warn when the order of calls is wrong."""
import types

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
wrong = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
wrong.step()
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
for step in range(5):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    wrong.step()
    plateau.step(loss.item())
    print(step, repr(loss.item()), wrong.get_last_lr(), optimizer._opt_called, optimizer.step.__qualname__)
optimizer.step = types.MethodType(lambda self: print("replaced"), optimizer)
torch.optim.lr_scheduler.ConstantLR(optimizer)
for step in range(2):
    optimizer.step()
torch.save([net.state_dict(), wrong.state_dict(), plateau.state_dict()], "final.pt")
