# journals: 1
"""Names are unbound when the body starts, and unbound again by del and by except clauses."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def train():
    for step in range(5):
        if step > 1:
            previous = previous + total if step > 2 else total
        total = net(torch.randn(8, 4)).pow(2).mean()
        try:
            if step == 3:
                raise ValueError("three")
        except ValueError as problem:
            print(problem)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        total = total.item()
        print(step, repr(total), sorted(locals()))
        try:
            problem
        except UnboundLocalError as error:
            print(error)
        if step == 4:
            del total, step


train()
for index in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad(), loss.backward(), optimizer.step()
    del loss, index
print(sorted(globals()))
torch.save(net.state_dict(), "final.pt")
