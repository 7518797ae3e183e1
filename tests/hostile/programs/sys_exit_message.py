# slow
# journals: 1
# expect-exit: 1
"""sys.exit with a text from inside the loop, through a finally clause."""
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
try:
    for step in range(5):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if step == 2:
            sys.exit(f"stopping at {loss.item()!r}")
        optimizer.step()
finally:
    torch.save(net.state_dict(), "final.pt")
    print("finally", step)
