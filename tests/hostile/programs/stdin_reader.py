# journals: 1
# stdin: 1 2 3 4\n5 6 7 8\n\n9 9 9 9\nrest of it
"""Batches are read from standard input, by input() and by iterating; the rest is left unread."""
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
while line := input("batch? "):
    loss = net(torch.tensor([float(word) for word in line.split()])).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
for line in sys.stdin:
    print(repr(line), sys.stdin.isatty())
torch.save(net.state_dict(), "final.pt")
