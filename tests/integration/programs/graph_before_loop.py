import torch
from torch import nn


class Roads(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n, n))
        self.lift = nn.Linear(2, 4)
        self.out = nn.Linear(4, 1)

    def spread(self):
        return torch.softmax(self.weight, dim=1)

    def forward(self, x, spread):
        return self.out(torch.relu(spread @ self.lift(x))).squeeze(-1)


def main():
    torch.manual_seed(0)
    model = Roads(7)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    spread = model.spread()
    for step in range(10):
        x = torch.randn(5, 7, 2)
        loss = (model(x, spread) - x.mean(-1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("final", loss.item())


main()
