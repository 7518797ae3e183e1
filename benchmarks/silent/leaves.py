import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Model(nn.Module):
    def __init__(self, width=8, depth=2, classes=6):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(width * 16, classes)

    def forward(self, x):
        h = torch.relu(self.stem(x))
        for block in self.blocks:
            h = block(h)
        h = nn.functional.adaptive_avg_pool2d(h, 4).flatten(1)
        return self.head(self.drop(h))


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    shapes = torch.randn(6, 1, 12, 12, generator=torch.Generator().manual_seed(5))
    y = torch.randint(0, 6, (n,), generator=g)
    return TensorDataset(0.5 * shapes[y] + torch.randn(n, 1, 12, 12, generator=g), y)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=6)
        self.criterion = nn.CrossEntropyLoss()

    def epoch(self, loader):
        self.model.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def evaluate(self, loader):
        self.model.eval()
        with torch.no_grad():
            return sum(self.criterion(self.model(x), y).item() for x, y in loader) / len(loader)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, held_out = (
        DataLoader(make(800, 1), batch_size=40, shuffle=True),
        DataLoader(make(300, 2), batch_size=100),
    )
    trainer = Trainer(Model())
    for number in range(6):
        print(f"epoch {number} loss {trainer.epoch(train):.4f} held out {trainer.evaluate(held_out):.4f}")
    print(f"final loss {trainer.evaluate(held_out):.4f}")


main()
