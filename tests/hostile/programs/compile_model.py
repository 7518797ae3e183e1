# journals: 1
"""A compiled model: no recompilation, graph break or frame more than without a recorder."""
import torch
from torch._dynamo.utils import counters

torch.manual_seed(0)
net = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)), backend="aot_eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print(dict(counters["frames"]), dict(counters["graph_break"]), dict(counters["stats"]))
torch.save(net.state_dict(), "final.pt")
