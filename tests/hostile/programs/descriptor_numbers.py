# slow
# journals: 1
"""The numbers of descriptors, and a low limit on how many there may be."""
import os
import resource

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
first = open("a.txt", "w")
print("first file has number", first.fileno(), resource.getrlimit(resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 64))
for step in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with open("b.txt", "a") as second:
        print(step, repr(loss.item()), second.fileno(), file=second)
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError as error:
    print(error.strerror, held)
for number in held:
    os.close(number)
