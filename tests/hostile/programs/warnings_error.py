# journals: 1
# launch: python -W error {file}
"""Every warning is an error, also one that a recorder would cause."""
import warnings

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, repr(loss.item()), scheduler.get_last_lr())
try:
    warnings.warn("now an error", stacklevel=1)
except UserWarning as error:
    print("raised", error)
open("never closed.txt", "w").close()
torch.save(net.state_dict(), "final.pt")
