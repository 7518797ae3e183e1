import torch
from torch import nn
def block(i, o):
    return nn.Sequential(nn.Linear(i, o), nn.Tanh(), nn.ReLU(inplace=True))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(4, 8), block(8, 8)); self.head = nn.Linear(8, 1)
    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)
torch.manual_seed(0)
m = Net(); opt = torch.optim.SGD(m.parameters(), 0.1)
for step in range(5):
    x = torch.randn(8, 4)
    loss = (m(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final")
