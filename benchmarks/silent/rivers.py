import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.linear(x))


class Model(nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        self.inlet = nn.Linear(10, width)
        self.layers = nn.ModuleList([Layer(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        h = self.inlet(x)
        for layer in self.layers:
            h = layer(h)
        return self.head(h).squeeze(-1)


class Gauges(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 10, generator=g)
        self.y = torch.sin(2 * self.x[:, 0]) + self.x[:, 1] * self.x[:, 2] + 0.1 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i].clone()
        return x, self.y[i]


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, held_out = DataLoader(Gauges(1200, 1), batch_size=30, shuffle=True), Gauges(400, 2)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    for epoch in range(10):
        for x, y in train:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"final loss {nn.functional.mse_loss(model(held_out.x), held_out.y).item():.4f}")


main()
