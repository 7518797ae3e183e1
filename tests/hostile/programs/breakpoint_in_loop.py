# journals: 1
# stdin: p step\nw\nn\nn\np loss.item()\nl\nc\nup\nc\n
"""A breakpoint in the training loop, steps over lines, and a conversation on stdin."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(2):
    x = torch.randn(8, 4)
    breakpoint()
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
