# slow
# journals: 1
# expect-exit: 134
"""os.abort() between backward and step."""
import os
import resource

import torch

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    print(step, repr(loss.item()), flush=True)
    if step == 3:
        os.abort()
    optimizer.step()
