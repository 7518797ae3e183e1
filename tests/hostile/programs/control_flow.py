# journals: 1
"""break, continue, else, return and finally in and around loops that step, at two depths."""
import contextlib

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def step_once():
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return repr(loss.item())


def train(limit):
    count = 0
    while count < 4:
        count += 1
        for inner in range(4):
            if inner == 1:
                continue
            print(count, inner, step_once())
            if inner == count:
                break
        else:
            print("inner loop ran out")
            optimizer.step()
        try:
            if count == limit:
                return step_once()
            if count == 2:
                continue
        finally:
            print("finally", count)
            if limit == 9:
                break
        with contextlib.suppress(ZeroDivisionError):
            step_once()
            1 / 0
    else:
        return "outer loop ran out"
    return "broken"


print(train(3), train(4), train(5), train(9))
while True:
    print(step_once())
    if True: break
for _ in []:
    optimizer.step()
else:
    print("nothing to do")
torch.save(net.state_dict(), "final.pt")
