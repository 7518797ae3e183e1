"""Small trainings that acknowledge each step in a file of their own once the optimizer has stepped."""

from __future__ import annotations

LOOP = """
import os, sys, time
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
done = os.open("acknowledged", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for step in range({steps}):
    x = torch.randn(4, 8)
    loss = net(x).pow(2).mean(){bad}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    os.write(done, b"%d\\n" % step)
    time.sleep(0.002)
print("trained", repr(loss.item()))
"""

LEARNS = LOOP.format(steps=150, bad="")
# The logarithm of zero at step 40.
FAILS = LOOP.format(steps=150, bad=" + 0.01 * torch.log((x * (step != 40)).abs()).mean()")


def acknowledged(folder: object) -> int:
    """How many steps the program has said were over."""
    try:
        with open(f"{folder}/acknowledged", encoding="ascii") as file:
            return file.read().count("\n")
    except FileNotFoundError:
        return 0
