# journals: 1
"""Batches come from next() on iterators that live outside the loop and are renewed inside."""
import itertools

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loader = torch.utils.data.DataLoader(torch.randn(12, 4), batch_size=4, shuffle=True)
batches, noise, counter = iter(loader), (torch.randn(1) for _ in itertools.count()), itertools.count()
for step in range(8):
    try:
        x = next(batches)
    except StopIteration:
        print("new epoch")
        batches = iter(loader)
        x = next(batches)
    loss = net(x + next(noise)).pow(2).mean() / (step != 5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, next(counter), repr(loss.item()))
torch.save(net.state_dict(), "final.pt")
