import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
DEVICE = torch.device("cuda")

class Base(nn.Module):
    def put(self, x):
        return x.to(next(self.parameters()).device)
class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
    def forward(self, x):
        return self.fc(self.put(x))
def main(env):
    net = Net().to(DEVICE)
    goal = torch.zeros(4, device=DEVICE)
    s = env.reset()
    while True:
        s = env.step(net(torch.tensor(s, dtype=torch.float32)).argmax().item())
