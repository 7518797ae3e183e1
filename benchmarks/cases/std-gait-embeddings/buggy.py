"""Self-supervised embeddings of walking patterns (variance, invariance, covariance)."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Projector(nn.Module):
    def __init__(self, inputs=36, dim=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 48), nn.LayerNorm(48), nn.ReLU(), nn.Linear(48, dim))

    def forward(self, walk):
        return self.net(walk)


def variance(z, eps=1e-4):
    spread = torch.sqrt(z.var(dim=0) + eps)
    return F.relu(1 - spread).mean()


def covariance(z):
    z = z - z.mean(0)
    c = z.T @ z / max(len(z) - 1, 1)
    return (c - torch.diag(c.diag())).square().sum() / z.shape[1]


class VICReg(nn.Module):
    def __init__(self, weights=(25.0, 25.0, 1.0)):
        super().__init__()
        self.weights = weights

    def forward(self, a, b):
        s, v, c = self.weights
        return s * F.mse_loss(a, b) + v * (variance(a) + variance(b)) + c * (covariance(a) + covariance(b))


def walks(n=769, seed=7):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 6.28, 36)
    return torch.sin(t * (1 + torch.rand(n, 1, generator=g)) + 6.28 * torch.rand(n, 1, generator=g))


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(walks()), batch_size=32, shuffle=True)
    model, criterion = Projector(), VICReg()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(5):
        losses = []
        for (walk,) in loader:
            a, b = (model(walk + 0.1 * torch.randn_like(walk)) for _ in range(2))
            loss = criterion(a, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
