# journals: 1
# needs: cloudpickle
"""A function with a training loop, pickled by value, runs in a process that knows no recorder."""
import os
import subprocess
import sys

import cloudpickle
import torch


def train(seed):
    torch.manual_seed(seed)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(3):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return repr(loss.item())


print(train(0))
with open("train.pickle", "wb") as out:
    cloudpickle.dump(train, out)
clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH" and not k.startswith("FIRSTCAUSE")}
site = os.path.dirname(os.path.dirname(torch.__file__))
code = f"import sys; sys.path.append({site!r}); import pickle; print(pickle.load(open('train.pickle', 'rb'))(0))"
child = subprocess.run([sys.executable, "-S", "-E", "-c", code], env=clean, capture_output=True, text=True)
os.remove("train.pickle")
print(child.stdout, child.stderr, child.returncode)
