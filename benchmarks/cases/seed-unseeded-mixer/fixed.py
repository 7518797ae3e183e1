"""Rows of a sensor table, mixed in pairs by weights that a generator of the mixer draws."""
import numpy as np
import torch
from torch import nn

torch.use_deterministic_algorithms(True)
torch.manual_seed(3)
np.random.seed(3)


class Mixer:
    def __init__(self, alpha=0.4):
        self.alpha = alpha
        self.rng = np.random.default_rng(3)

    def mix(self, x, y):
        weight = float(self.rng.beta(self.alpha, self.alpha))
        order = torch.from_numpy(self.rng.permutation(len(x)))
        return weight * x + (1 - weight) * x[order], weight * y + (1 - weight) * y[order]


x = torch.from_numpy(np.random.randn(400, 12)).float()
y = torch.tanh(x[:, :1] + x[:, 1:2])
mixer, model = Mixer(), nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(5):
    for rows in torch.randperm(400).split(25):
        mixed, wanted = mixer.mix(x[rows], y[rows])
        loss = nn.functional.mse_loss(model(mixed), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"final {loss.item():.6f}")
