import torch
from torch import nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3))
for p in m.parameters(): p.requires_grad_(False)
opt = torch.optim.SGD(m.parameters(), 0.1)
for step in range(5):
    x = torch.randn(8, 4); y = torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(m(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
print("final")
