# journals: 1
"""global and nonlocal statements inside the loop's body itself."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def train():
    inner = 0

    def run():
        for step in range(4):
            global total, last
            nonlocal inner
            inner += 1
            total = inner if step == 0 else total + inner
            last = net(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            last.backward()
            optimizer.step()
            print(step, repr(last.item()), total, inner, sorted(locals()))

    run()
    return inner


for epoch in range(2):
    global epoch_count
    epoch_count = epoch
    print(train(), total, epoch_count, run if "run" in globals() else "no run")
torch.save(net.state_dict(), "final.pt")
