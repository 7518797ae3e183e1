import torch
from torch import nn
torch.manual_seed(0)
m = nn.Linear(4, 1); opt = torch.optim.SGD(m.parameters(), 0.1)
def losses(x):
    out = []
    for row in x:
        out.append((m(row) - row.sum()).pow(2).sum().item())
    return out
for step in range(5):
    x = torch.randn(8, 4)
    loss = torch.tensor(losses(x)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final")
