import torch
from torch import nn
class Mono(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 7); self.b = nn.Linear(7, 1)
    def project(self):
        with torch.no_grad():
            self.b.weight.clamp_(min=0)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x))).squeeze(-1)
torch.manual_seed(0)
net = Mono(); opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(10):
    x = torch.randn(6, 5)
    loss = (net(x) - x.sum(1)).pow(2).mean()
    net.project()
    opt.zero_grad(); loss.backward(); opt.step()
print("final", loss.item())
