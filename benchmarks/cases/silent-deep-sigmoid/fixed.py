from collections import OrderedDict

import torch
from torch import nn
import torch.nn.functional as F

config = {"depth": 10, "width": 32, "lr": 2e-3, "epochs": 10, "batch": 50, "activation": nn.GELU}


def deep_mlp(n_in, n_out, depth, width, activation):
    mods = OrderedDict()
    mods["in"] = nn.Linear(n_in, width)
    for k in range(depth):
        mods[f"act{k}"] = activation()
        mods[f"fc{k}"] = nn.Linear(width, width)
    mods["act_out"] = activation()
    mods["out"] = nn.Linear(width, n_out)
    return nn.Sequential(mods)


def beans(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(4, 16, generator=torch.Generator().manual_seed(6))
    y = torch.randint(0, 4, (n,), generator=g)
    return c[y] + 0.7 * torch.randn(n, 16, generator=g), y


torch.manual_seed(0)
x, y = beans(1500, 0)
tx, ty = beans(500, 1)
model = deep_mlp(16, 4, config["depth"], config["width"], config["activation"])
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
for epoch in range(config["epochs"]):
    for i in torch.randperm(len(x)).split(config["batch"]):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[i]), y[i])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        test = F.cross_entropy(model(tx), ty).item()
    print("epoch", epoch, "test", round(test, 4))
print(f"final test {test:.4f}")
