import numpy as np
import torch
import torch.nn as nn


def read_survey(n=1500, seed=3):
    r = np.random.default_rng(seed)
    field_id = r.permutation(n)
    soil = r.normal(size=(n, 8)).astype(np.float32)
    yields = (2.0 * soil[:, 0] - soil[:, 2] + np.abs(soil[:, 4]) + 0.2 * r.normal(size=n)).astype(np.float32)
    return field_id, soil, yields


def tidy(field_id, soil, yields):
    order = np.argsort(field_id)
    soil = soil[order]
    yields = yields[order]
    mean, std = soil.mean(0), soil.std(0)
    soil = (soil - mean) / std
    return torch.from_numpy(soil), torch.from_numpy(yields)[:, None]


class YieldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.seq(x)


torch.manual_seed(0)
X, Y = tidy(*read_survey())
net = YieldNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(15):
    for i in torch.randperm(len(X)).split(50):
        loss = nn.functional.mse_loss(net(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        with torch.no_grad():
            r2 = 1 - (net(X) - Y).pow(2).mean() / Y.var()
        print(f"epoch {epoch} loss {loss.item():.4f} r2 {r2.item():.3f}")
with torch.no_grad():
    print(f"final mse {nn.functional.mse_loss(net(X), Y).item():.4f}")
