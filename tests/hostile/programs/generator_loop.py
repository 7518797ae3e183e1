# journals: 1
"""A training loop that yields, receives by send(), is closed early and delegated to by yield from."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def steps(count):
    factor = 1.0
    try:
        for step in range(count):
            loss = (net(torch.randn(8, 4)) * factor).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            answer = yield step, loss.item()
            factor = 1.0 if answer is None else answer
    finally:
        print("generator closed at", step)
    return "all done"


def delegating():
    print((yield from steps(3)))


for item in delegating():
    print(item)
training = steps(100)
print(next(training), training.send(0.5), training.send(None))
training.close()
for step, loss in steps(10):
    print(step, repr(loss))
    if step == 2:
        break
torch.save(net.state_dict(), "final.pt")
