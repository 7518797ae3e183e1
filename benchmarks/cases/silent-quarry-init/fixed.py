import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.lin(x))


class Quarry(nn.Module):
    def __init__(self, width=48, depth=7, kinds=6):
        super().__init__()
        self.stem = nn.Linear(12, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.top = nn.Linear(width, kinds)
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.top(self.blocks(self.stem(x)))


def stones(n, seed):
    g = torch.Generator().manual_seed(seed)
    centres = 1.5 * torch.randn(6, 12, generator=torch.Generator().manual_seed(42))
    y = torch.randint(0, 6, (n,), generator=g)
    return centres[y] + torch.randn(n, 12, generator=g), y


def main():
    torch.manual_seed(0)
    x, y = stones(1800, 1)
    vx, vy = stones(600, 2)
    model = Quarry()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(8):
        for rows in torch.randperm(len(x)).split(36):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            value = nn.functional.cross_entropy(model(vx), vy).item()
        print(f"epoch {epoch} valid {value:.4f}")
    print(f"final valid {value:.4f}")


if __name__ == "__main__":
    main()
