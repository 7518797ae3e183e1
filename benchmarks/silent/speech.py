import os

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, classes=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(40, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU()
        )
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        h = self.encoder(x)
        return self.head(self.drop(h))


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    centres = torch.randn(16, 40, generator=torch.Generator().manual_seed(13))
    which = torch.randint(0, 16, (n,), generator=g)
    return centres[which] + 1.6 * torch.randn(n, 40, generator=g), which % 8


class Experiment:
    def __init__(self):
        self.train_data, self.test_data = make(1200, 1), make(400, 2)
        self.model = Model()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, epochs):
        x, y = self.train_data
        for epoch in range(epochs):
            self.model.train()
            losses = [self.step(x[i], y[i]) for i in torch.randperm(len(x)).split(60)]
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} test {self.evaluate():.4f}")

    def evaluate(self):
        self.model.eval()
        x, y = self.test_data
        with torch.no_grad():
            return nn.functional.cross_entropy(self.model(x), y).item()


torch.manual_seed(int(os.environ.get("SEED", "0")))
experiment = Experiment()
experiment.fit(8)
print(f"final loss {experiment.evaluate():.4f}")
