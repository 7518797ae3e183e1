import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
class Rope(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.freq = nn.Parameter(torch.rand(d)); self.lin = nn.Linear(d, d); self.filled = False; self.kept = None
    def forward(self, x):
        if not self.filled:
            t = torch.arange(x.shape[1], dtype=torch.float32)
            self.kept = torch.cos(t[:, None] * self.freq)
            self.filled = True
        return self.lin(x * self.kept)
    def reset(self):
        self.filled = False
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Rope(6); self.head = nn.Linear(6, 1)
    def forward(self, x):
        self.block.reset()
        return self.head(checkpoint(self.block, x, use_reentrant=False)).squeeze(-1)
torch.manual_seed(0)
net = Net(); opt = torch.optim.Adam(net.parameters(), 1e-2)
for step in range(20):
    x = torch.randn(8, 3, 6)
    loss = (net(x) - x.sum(-1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final", loss.item())
