# journals: 1
# expect-exit: 1
"""The program has a guard of its own that raises before the optimizer steps."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def guard(loss, step):
    if not torch.isfinite(loss):
        print("guard: giving up at", step)
        raise FloatingPointError(f"loss is {loss.item()} at step {step}")


for step in range(8):
    loss = torch.sqrt(net(torch.randn(8, 4)).mean() - step + 3)
    guard(loss, step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
