import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
rng = np.random.default_rng(3)
class Drop(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(d, d) for _ in range(n))
    def forward(self, x):
        keep = rng.integers(1, len(self.layers) + 1)
        for layer in self.layers[:keep]:
            x = x + torch.tanh(layer(x))
        return x
torch.manual_seed(0)
net = Drop(5, 4); head = nn.Linear(5, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], 1e-2)
for step in range(20):
    x = torch.randn(8, 5)
    loss = (head(checkpoint(net, x, use_reentrant=False)).squeeze(-1) - x.sum(-1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final", loss.item())
