# journals: 1
"""The loss function in the script itself and a model whose forward loops over its own step()."""
import torch
from torch._dynamo.utils import counters

torch.manual_seed(0)


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.Linear(6, 2)

    def step(self, x, state):
        return torch.tanh(self.cell(torch.cat([x, state], -1)))

    def forward(self, xs):
        state = xs.new_zeros(xs.shape[1], 2)
        for x in xs:
            state = self.step(x, state)
        return state


@torch.compile(backend="eager", fullgraph=True)
def loss_of(prediction, target):
    return (prediction - target).pow(2).mean()


net = Recurrent()
compiled = torch.compile(net, backend="eager", fullgraph=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = loss_of(compiled(torch.randn(3, 8, 4)), torch.randn(8, 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print(dict(counters["frames"]), dict(counters["graph_break"]), dict(counters["stats"]))
torch.save(net.state_dict(), "final.pt")
