import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Loop:
    def __init__(self, model, train, valid, epochs):
        self.model, self.train, self.valid, self.epochs = model, train, valid, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=0.2, total_steps=epochs * len(train), div_factor=100
        )

    def step(self, batch):
        x, y = batch
        loss = nn.functional.mse_loss(self.model(x).squeeze(-1), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.train:
                self.step(batch)
            self.schedule.step()
            print(f"epoch {epoch} rate {self.schedule.get_last_lr()[0]:.5f} valid {self.check():.4f}")
        print(f"final valid {self.check():.4f}")

    def check(self):
        with torch.no_grad():
            x, y = self.valid
            return nn.functional.mse_loss(self.model(x).squeeze(-1), y).item()


def loaves(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 5, generator=g)
    return x, torch.sin(math.pi * 2 * x[:, 0]) * x[:, 1] + (x[:, 2] - x[:, 3]) ** 2


def main():
    torch.manual_seed(1)
    train = DataLoader(TensorDataset(*loaves(1600, 3)), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    Loop(model, train, loaves(400, 4), 12).fit()


if __name__ == "__main__":
    main()
