# journals: 1
# expect-exit: 1
"""A shape error inside nn.Module calls inside the loop: traceback and carets must be the same."""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = [torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 4)]


def fit():
    for step, x in enumerate(data):
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))


fit()
