"""Weekly sales curve of new products from their launch attributes."""
import torch
from torch import nn
from torch.utils.data import DataLoader

HORIZON = 20


def launch_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(n):
        attrs = torch.randn(6, generator=g)
        weeks = int(torch.randint(3, HORIZON + 1, (1,), generator=g))
        t = torch.arange(weeks).float()
        curve = 3 + attrs[0] + 0.6 * attrs[1] * torch.sin(t / 3) + 0.05 * t * attrs[2]
        rows.append((attrs, curve + 0.1 * torch.randn(weeks, generator=g)))
    return rows


def collate(rows):
    attrs = torch.stack([a for a, _ in rows])
    lengths = torch.tensor([len(c) for _, c in rows])
    sales = nn.utils.rnn.pad_sequence([c for _, c in rows], batch_first=True)
    sales = nn.functional.pad(sales, (0, HORIZON - sales.shape[1]))
    return attrs, sales, lengths


class CurveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(6, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, HORIZON))

    def forward(self, a):
        return self.f(a)


def evaluate(model, loader):
    err, cnt = 0.0, 0
    with torch.no_grad():
        for attrs, sales, lengths in loader:
            mask = torch.arange(HORIZON) < lengths[:, None]
            err += (model(attrs) - sales).abs()[mask].sum().item()
            cnt += int(mask.sum())
    return err / cnt


def fit(epochs=10):
    torch.manual_seed(1)
    train = DataLoader(launch_data(1500, 0), batch_size=32, shuffle=True, collate_fn=collate)
    valid = DataLoader(launch_data(300, 1), batch_size=100, collate_fn=collate)
    model = CurveNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for ep in range(epochs):
        for attrs, sales, lengths in train:
            pred = model(attrs)
            loss = nn.functional.mse_loss(pred, sales)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"ep {ep} last loss {loss.item():.4f} valid mae {evaluate(model, valid):.4f}")
    print(f"final valid mae {evaluate(model, valid):.4f}")


if __name__ == "__main__":
    fit()
