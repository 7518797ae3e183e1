"""Shares of minerals in a rock from its spectrum; many shares are exactly zero."""
import torch
from torch import nn

EPS = 1e-6
MINERALS, BANDS = 12, 40


def rocks(n, seed):
    g = torch.Generator().manual_seed(seed)
    signatures = torch.rand(MINERALS, BANDS, generator=torch.Generator().manual_seed(50)).pow(3)
    present = torch.rand(n, MINERALS, generator=g) < 0.25
    present[torch.arange(n), torch.randint(0, MINERALS, (n,), generator=g)] = True
    amounts = torch.rand(n, MINERALS, generator=g) * present
    shares = amounts / amounts.sum(1, keepdim=True)
    return shares @ signatures + 0.01 * torch.randn(n, BANDS, generator=g), shares


class Unmix(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm1d(BANDS), nn.Linear(BANDS, 64), nn.ReLU(), nn.Linear(64, MINERALS))

    def forward(self, spectra):
        amounts = torch.relu(self.body(spectra) + 0.1)
        return amounts / (amounts.sum(1, keepdim=True) + EPS)


def divergence(shares, predicted):
    """Symmetric Kullback-Leibler divergence."""
    log_ratio = torch.log(shares + EPS) - torch.log(predicted + EPS)
    return ((shares - predicted) * log_ratio).sum(1).mean()


def main():
    torch.manual_seed(4)
    spectra, shares = rocks(2400, seed=5)
    model = Unmix()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        total, zeros = 0.0, 0
        for rows in torch.randperm(len(spectra)).split(60):
            predicted = model(spectra[rows])
            loss = divergence(shares[rows], predicted)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() / 40
            zeros += (predicted == 0).sum().item()
        print(f"epoch {epoch} divergence {total:.4f} zero shares {zeros}")
    print(f"final loss {total:.4f}")


if __name__ == "__main__":
    main()
