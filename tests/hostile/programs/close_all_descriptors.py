# journals: 1
"""A daemon's habit: every descriptor above 2 is closed, then the numbers are used for other files."""
import os

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(6):
    if step == 2:
        os.closerange(3, 4096)
        files = [os.open(f"file-{n}.txt", os.O_WRONLY | os.O_CREAT) for n in range(6)]
        os.dup2(files[0], 200), os.dup2(files[0], 500), os.dup2(files[0], 1000)
        print(files)
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
for descriptor in files:
    os.write(descriptor, b"mine")
print([os.path.getsize(f"file-{n}.txt") for n in range(6)])
