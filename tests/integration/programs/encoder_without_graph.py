import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 6)
    def embed(self, x):
        with torch.no_grad():
            return torch.tanh(self.enc(x))
    def forward(self, x):
        return self.embed(x).mean(-1)
torch.manual_seed(0)
m = Model(); opt = torch.optim.SGD(m.parameters(), 0.1)
for step in range(5):
    x = torch.randn(8, 4)
    loss = (m(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final")
