import torch
from torch import nn

torch.manual_seed(5)
INPUTS = torch.randn(256, 8)
LABELS = ((INPUTS[:, 0] * INPUTS[:, 1]) > 0).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
        self.head = nn.Linear(32, 2)

    def embed(self, x):
        with torch.no_grad():
            return self.encoder(x)

    def forward(self, x):
        return self.head(self.embed(x))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
for step in range(60):
    rows = torch.randint(0, 256, (64,))
    loss = nn.functional.cross_entropy(net(INPUTS[rows]), LABELS[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
