# slow
# journals: 1
"""A limit on the size of files: a recorder's own write must not end the program by SIGXFSZ."""
import resource
import signal

import torch

torch.manual_seed(0)
net = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
signal.signal(signal.SIGXFSZ, lambda number, frame: print("limit was hit"))
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
for step in range(6):
    loss = net(torch.randn(8, 64)).pow(2).mean() * (float("nan") if step == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
try:
    with open("large.bin", "wb") as large:
        large.write(bytes(1000))
except OSError as error:
    print(error.strerror)
