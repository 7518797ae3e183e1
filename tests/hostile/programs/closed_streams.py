# journals: 1
"""Standard streams are closed, replaced and redirected; the NaN comes when nobody can be told."""
import contextlib
import io
import os
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
print("last words", flush=True)
sys.stdin.close()
os.close(2)
sys.stderr = None
for step in range(6):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 3 else 1.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))
    with open("log.txt", "a") as log:
        log.write(f"{log.fileno()} {text.getvalue()}")
sys.stdout = None
os.close(1)
