"""Fails after its optimizer's step, by the shape of what was computed before it, once an array has been filled."""

import numpy as np
import torch


class Learner:
    def __init__(self):
        self.model = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.updates = 0
        self.priority = np.zeros(64)

    def learn(self, index, features, value):
        predicted = self.model(features)
        difference = predicted - value
        loss = difference.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates > 12:
            self.priority[index] = difference.detach().numpy()


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    learner = Learner()
    for _ in range(40):
        index = rng.choice(64, 16, replace=False)
        learner.learn(index, torch.randn(16, 4), torch.randn(16))


main()
