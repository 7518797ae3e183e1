import torch
from torch import nn
import torch.nn.functional as F


def transactions(n, seed):
    g = torch.Generator().manual_seed(seed)
    fraud = (torch.rand(n, generator=g) < 0.04).float()
    x = torch.randn(n, 10, generator=g) + 1.1 * fraud[:, None] * torch.tensor([1.0, -1, 0.5, 0, 0, 0, 0, 0.5, 0, 0])
    return x, fraud


class FraudModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def weighted_loss(logit, target, weight):
    loss = F.binary_cross_entropy_with_logits(logit, target)
    return (weight * loss).mean()


def report(model, x, y):
    with torch.no_grad():
        hit = model(x) > 0
    tpr = hit[y == 1].float().mean().item()
    tnr = (~hit[y == 0]).float().mean().item()
    return tpr, tnr


def main():
    torch.manual_seed(23)
    x, y = transactions(6000, 0)
    tx, ty = transactions(4000, 1)
    w = torch.where(y == 1, 20.0, 1.0)
    model = FraudModel()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        for i in torch.randperm(len(x)).split(100):
            opt.zero_grad()
            weighted_loss(model(x[i]), y[i], w[i]).backward()
            opt.step()
        tpr, tnr = report(model, tx, ty)
        print(f"epoch {epoch} recall {tpr:.3f} specificity {tnr:.3f}")
    print(f"final balanced accuracy {(tpr + tnr) / 2:.4f}")


main()
