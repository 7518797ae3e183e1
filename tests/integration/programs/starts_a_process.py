import subprocess
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(5):
    factor = float(subprocess.run([sys.executable, "-S", "-c", "print(1)"], capture_output=True, check=True).stdout)
    loss = (model(torch.randn(4, 2)) / (0.0 if i == 3 else factor)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
