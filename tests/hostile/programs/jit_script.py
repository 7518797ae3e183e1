# journals: 1
"""TorchScript compiles from source a module whose forward loops over its own step()."""
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(0)


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.Linear(6, 2)

    def step(self, x, state):
        return torch.tanh(self.cell(torch.cat([x, state], -1)))

    def forward(self, xs):
        state = torch.zeros(xs.size(1), 2)
        for i in range(xs.size(0)):
            state = self.step(xs[i], state)
        return state


@torch.jit.script
def scaled(x: torch.Tensor, times: int) -> torch.Tensor:
    for _ in range(times):
        x = x * 0.9
    return x


net = torch.jit.script(Recurrent())
traced = torch.jit.trace(torch.nn.Linear(2, 1), torch.randn(3, 2))
optimizer = torch.optim.SGD([*net.parameters(), *traced.parameters()], lr=0.05)
for step in range(4):
    loss = traced(scaled(net(torch.randn(3, 8, 4)), 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
print(net.code, scaled.code, traced.code)
torch.save([net.state_dict(), traced.state_dict()], "final.pt")
