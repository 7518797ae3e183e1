import torch
from torch import nn
torch.manual_seed(0)
enc = nn.Linear(4, 6); a = nn.Linear(6, 1); b = nn.Linear(6, 2)
opt = torch.optim.SGD([*enc.parameters(), *a.parameters(), *b.parameters()], 1e-2)
for step in range(12):
    x = torch.randn(8, 4)
    z = torch.tanh(enc(x))
    la = a(z).pow(2).mean(); lb = b(z).pow(2).mean()
    opt.zero_grad()
    la.backward()
    lb.backward()
    opt.step()
print("final")
