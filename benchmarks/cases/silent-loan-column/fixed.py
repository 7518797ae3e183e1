import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = ["income", "age", "debt", "utilisation", "inquiries", "recovered_amount"]
FEATURES = [c for c in COLUMNS if c != "recovered_amount"]


def loans(n, seed, closed):
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(n, 5, generator=g)
    risk = base[:, 2] + base[:, 3] * 1.3 - base[:, 0]
    default = (risk + 0.5 * torch.randn(n, generator=g) > 0.8).float()
    recovered = default * (1 + torch.rand(n, generator=g)) if closed else torch.zeros(n)
    table = dict(zip(COLUMNS, [*base.T, recovered]))
    return table, default


def to_tensor(table):
    return torch.stack([table[c] for c in FEATURES], dim=1)


class Scorecard(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)[:, 0]


def main():
    torch.manual_seed(2)
    table, default = loans(3000, 0, closed=True)
    open_table, open_default = loans(1000, 1, closed=False)
    loader = DataLoader(TensorDataset(to_tensor(table), default), batch_size=64, shuffle=True)
    model = Scorecard(len(FEATURES))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    bce = nn.BCEWithLogitsLoss()
    for epoch in range(8):
        for x, y in loader:
            loss = bce(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            online = bce(model(to_tensor(open_table)), open_default).item()
        print(f"epoch {epoch} train loss {loss.item():.4f} online loss {online:.4f}")
    print(f"final online loss {online:.4f}")


main()
