# slow
# journals: 0
# scrub: W\d{4} \d\d:\d\d:\d\d\.\d+ \d+
"""The whole step is compiled, backward and optimizer included; so is an evaluation loop in a function."""
import torch
from torch._dynamo.utils import counters

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


@torch.compile(backend="eager")
def train_step(x):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


@torch.compile(backend="eager")
def two_steps(xs):
    total = 0.0
    for x in xs:
        total = total + train_step(x)
    return total


for step in range(3):
    print(step, repr(train_step(torch.randn(8, 4)).item()))
print(repr(two_steps([torch.randn(8, 4), torch.randn(8, 4)]).item()))
print(dict(counters["frames"]), sum(counters["graph_break"].values()), dict(counters["stats"]))
torch.save(net.state_dict(), "final.pt")
