import atexit
import contextlib
import sys

import torch
from torch import nn

torch.manual_seed(0)
atexit.register(print, "atexit")
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@contextlib.contextmanager
def held():
    try:
        yield
    finally:
        print("let go")


with held():
    for step in range(6):
        factor = 0.0 if step == 3 else 1.0
        try:
            loss = -torch.log(model(torch.rand(8, 4)).sigmoid() * factor).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        except Exception:
            print("an exception of another kind")
        print("step", step, flush=True)
sys.exit(5)
