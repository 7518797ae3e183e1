# slow
# journals: 1
"""The closure itself turns NaN, and it has side effects."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
calls = []


def closure():
    optimizer.zero_grad()
    loss = (net(torch.randn(8, 4)).pow(2).mean() - (5.0 if len(calls) == 7 else 0.0)).log()
    loss.backward()
    calls.append(repr(loss.item()))
    return loss


for step in range(5):
    optimizer.step(closure)
    print(step, calls)
torch.save([net.state_dict(), torch.get_rng_state()], "final.pt")
