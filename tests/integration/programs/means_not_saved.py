import torch
from torch import nn

torch.manual_seed(0)
x = 50 + 5 * torch.randn(400, 3)
y = (x - 50) @ torch.tensor([0.3, -0.2, 0.1])


class Standard(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(3)
        self.spread = torch.ones(3)

    def forward(self, x):
        return (x - self.mean) / self.spread


def build():
    return nn.Sequential(Standard(), nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))


def train(steps=120):
    model = build()
    model[0].mean, model[0].spread = x.mean(0), x.std(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(steps):
        rows = torch.randint(0, 400, (32,))
        loss = (model(x[rows]).squeeze(1) - y[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.state_dict()


state = train()
model = build()
model.load_state_dict(state)
model.eval()
with torch.no_grad():
    print("error", (model(x).squeeze(1) - y).abs().mean().item())
