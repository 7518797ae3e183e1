"""A gather keeps its column, the difference becomes a square, and NumPy refuses it far behind the step."""
import numpy as np
import torch
from torch import nn

priority = np.ones(64, dtype=np.float32)


def write_back(rows, errors):
    sizes = np.abs(errors) + 1e-3
    priority[rows] = sizes


def learn(model, opt, rng, step):
    rows = rng.choice(64, 16)
    obs = torch.from_numpy(rng.standard_normal((16, 3)).astype(np.float32))
    action = torch.from_numpy(rng.integers(0, 2, 16))
    taken = model(obs).gather(1, action[:, None])
    target = torch.zeros(16)
    td = target - taken
    loss = td.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step > 1:
        write_back(rows, td.detach().numpy())


torch.manual_seed(0)
rng = np.random.default_rng(0)
model = nn.Linear(3, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    learn(model, opt, rng, step)
