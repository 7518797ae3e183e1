import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), 1e-2)
total = torch.zeros(())
for step in range(12):
    x = torch.randn(8, 4)
    total = total + (net(x).squeeze(-1) - x.sum(1)).pow(2).mean()
    opt.zero_grad(); total.backward(); opt.step()
print("final", total.item())
