"""Yield of a greenhouse; callbacks may end the training."""
import copy

import torch
from torch import nn


class StopTraining(Exception):
    def __init__(self, epoch, best):
        super().__init__(f"no better since epoch {epoch}")
        self.epoch, self.best = epoch, best


class Patience:
    def __init__(self, epochs, min_delta=1e-4):
        self.epochs, self.min_delta = epochs, min_delta
        self.best, self.best_epoch, self.weights = float("inf"), -1, None

    def __call__(self, epoch, model, value):
        if value < self.best - self.min_delta:
            self.best, self.best_epoch = value, epoch
            self.weights = copy.deepcopy(model.state_dict())
        elif epoch - self.best_epoch >= self.epochs:
            raise StopTraining(self.best_epoch, self.weights)


class Fit:
    def __init__(self, model, callbacks, lr):
        self.model, self.callbacks = model, callbacks
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def batch(self, x, y):
        loss = nn.functional.huber_loss(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    @torch.no_grad()
    def validate(self, x, y):
        return nn.functional.huber_loss(self.model(x), y).item()

    def __call__(self, train, val, epochs):
        try:
            for epoch in range(epochs):
                for x, y in zip(*(part.split(32) for part in train)):
                    self.batch(x, y)
                value = self.validate(*val)
                if epoch % 5 == 0:
                    print(f"epoch {epoch:3d} validation {value:.4f}")
                for callback in self.callbacks:
                    callback(epoch, self.model, value)
        except StopTraining as stop:
            print("stopped:", stop)
            self.model.load_state_dict(stop.best)
        return self.validate(*val)


def greenhouse(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 5, generator=g) * 2 - 1
    y = x[:, :1] * x[:, 1:2] + torch.sin(2 * x[:, 2:3]) + 0.3 * torch.randn(n, 1, generator=g)
    return x, y


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    fit = Fit(model, [Patience(3)], lr=3e-3)
    loss = fit(greenhouse(320, 1), greenhouse(200, 2), epochs=200)
    print(f"final loss {loss:.4f}")


if __name__ == "__main__":
    main()
