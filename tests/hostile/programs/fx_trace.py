# slow
# journals: 1
"""Symbolic tracing, export and vmap run the user's loops with proxies instead of tensors."""
import torch

torch.manual_seed(0)


class Unrolled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.Linear(4, 4)

    def step(self, x):
        return torch.tanh(self.cell(x))

    def forward(self, x):
        for _ in range(2):
            x = self.step(x)
        return x


net = Unrolled()
graph = torch.fx.symbolic_trace(net)
exported = torch.export.export(net, (torch.randn(8, 4),))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    x = torch.randn(8, 4)
    loss = graph(x).pow(2).mean() + torch.func.vmap(net)(x).sum() * 0.1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print(graph.code, exported.graph_module.code)
torch.save(net.state_dict(), "final.pt")
