import torch
from torch import nn
torch.manual_seed(0)
cell = nn.RNNCell(3, 8); head = nn.Linear(8, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], 1e-2)
h = torch.zeros(4, 8)
for step in range(20):
    x = torch.randn(4, 3)
    h = cell(x, h)
    loss = (head(h).squeeze(-1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
print("done", loss.item())
