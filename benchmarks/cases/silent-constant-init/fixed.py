import torch
from torch import nn


class PriceElasticity(nn.Module):
    def __init__(self, n_in=8, hidden=64):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(n_in, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        self.reset_parameters()

    def reset_parameters(self):
        for layer in (self.fc1, self.fc2, self.fc3):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        x = torch.nn.functional.elu(self.fc1(x))
        x = torch.nn.functional.elu(self.fc2(x))
        return self.fc3(x)


def market(n):
    x = torch.randn(n, 8)
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.5 * x[:, 3:4] - 0.5 * x[:, 4:5]
    return x, y + 0.05 * torch.randn(n, 1)


def main():
    torch.manual_seed(11)
    x, y = market(2500)
    vx, vy = market(500)
    net = PriceElasticity()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    huber = nn.HuberLoss()
    for epoch in range(12):
        for i in torch.randperm(2500).split(50):
            opt.zero_grad()
            loss = huber(net(x[i]), y[i])
            loss.backward()
            opt.step()
        with torch.no_grad():
            val = huber(net(vx), vy).item()
        if epoch % 3 == 0:
            print(f"epoch {epoch} val {val:.4f}")
    print(f"final val {val:.4f}")


main()
