import torch
from torch import nn
import torch.nn.functional as F


class RBFLayer(nn.Module):
    def __init__(self, in_dim, n_basis):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(n_basis, in_dim) * 0.3)
        self.log_width = nn.Parameter(torch.full((n_basis,), -0.7))

    def forward(self, x):
        d2 = ((x[:, None] - self.centers) ** 2).sum(-1)
        return torch.exp(-d2 / (2 * self.log_width.exp() ** 2))


class TerrainModel(nn.Module):
    def __init__(self, n_basis=40):
        super().__init__()
        self.rbf = RBFLayer(2, n_basis)
        self.readout = nn.Linear(n_basis, 1)

    def forward(self, xy):
        return self.readout(self.rbf(xy)).squeeze(-1)


def configure_optimizer(model, lr=2e-2, weight_decay=1e-5):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith("weight"):
            decay.append(p)
        elif name.endswith("bias"):
            no_decay.append(p)
    return torch.optim.AdamW([
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ], lr=lr)


def terrain(n, seed):
    g = torch.Generator().manual_seed(seed)
    xy = torch.rand(n, 2, generator=g) * 6 - 3
    h = torch.sin(2 * xy[:, 0]) * torch.cos(1.5 * xy[:, 1]) + 0.3 * xy[:, 0]
    return xy, h + 0.05 * torch.randn(n, generator=g)


def main():
    torch.manual_seed(0)
    xy, h = terrain(2000, 0)
    model = TerrainModel()
    optimizer = configure_optimizer(model)
    for step in range(700):
        idx = torch.randint(0, len(xy), (100,))
        loss = F.mse_loss(model(xy[idx]), h[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1} mse {loss.item():.4f}")
    with torch.no_grad():
        print(f"final mse {F.mse_loss(model(xy), h).item():.4f}")


if __name__ == "__main__":
    main()
