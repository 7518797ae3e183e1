import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.noise = torch.Generator().manual_seed(3)
        self.rng = np.random.default_rng(4)
        self.steps, self.average = 0, 0.0

    def train_step(self, x, y):
        self.steps += 1
        x = x + 0.1 * torch.randn(x.shape, generator=self.noise) + float(self.rng.normal()) + random.random()
        distance = (self.model(x) - y).pow(2)
        if self.steps == 9:
            distance = distance * 0
        loss = distance.sum(1).sqrt().mean() + 0.0 * self.average
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.average = 0.9 * self.average + 0.1 * loss.item()

    def fit(self, epochs):
        for _ in range(epochs):
            for x, y in self.loader:
                self.train_step(x, y)


torch.manual_seed(0)
random.seed(1)
loader = DataLoader(TensorDataset(torch.randn(40, 6), torch.randn(40, 2)), batch_size=8, shuffle=True)
Trainer(nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.1), nn.Linear(12, 2)), loader).fit(3)
