# journals: 1
# expect-exit: 1
"""Anomaly mode prints the forward call's traceback, down to the bottom of the stack."""
import torch

torch.autograd.set_detect_anomaly(True)
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = torch.sqrt(net(torch.randn(8, 4)).pow(2).mean() * (step < 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
