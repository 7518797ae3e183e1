# journals: 1
"""A closure that the loop body changes through nonlocal and through its own free variables."""
import torch

torch.manual_seed(0)


def main():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    temperature, seen = 1.0, 0

    def criterion(x):
        nonlocal seen
        seen += len(x)
        return (net(x) / temperature).pow(2).mean()

    for step in range(6):
        temperature = temperature * 0.5
        loss = criterion(torch.randn(8, 4))
        temperature = 2.0 - step
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), temperature, seen, main.__code__.co_cellvars)
    torch.save(net.state_dict(), "final.pt")
    return criterion.__closure__


print(len(main()))
