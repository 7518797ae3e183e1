"""Used car prices: categorical columns as embeddings, validated after every epoch."""
import numpy as np
import torch
import torch.nn as nn

COLUMNS = ("maker", "fuel", "town")


def offers(n, seed, towns):
    rng = np.random.default_rng(seed)
    rows = {
        "maker": rng.choice(["alto", "brio", "corvo", "delta", "epic"], n),
        "fuel": rng.choice(["petrol", "diesel", "electric"], n, p=[0.5, 0.4, 0.1]),
        "town": rng.choice(towns, n),
    }
    numbers = np.stack([rng.uniform(0, 15, n), rng.gamma(2, 40, n)], axis=1)
    price = 22 - 1.1 * numbers[:, 0] - 0.04 * numbers[:, 1] + 4 * (rows["maker"] == "epic") + 6 * (rows["fuel"] == "electric")
    return rows, numbers, price + rng.normal(0, 1, n)


class Encoder:
    def fit(self, rows):
        self.levels = {c: np.unique(rows[c]) for c in COLUMNS}
        return self

    def sizes(self):
        return [len(self.levels[c]) for c in COLUMNS]

    def codes(self, rows):
        out = []
        for c in COLUMNS:
            column, levels = rows[c], self.levels[c]
            spot = np.searchsorted(levels, column).clip(max=len(levels) - 1)
            codes = np.where(levels[spot] == column, spot, -1)
            out.append(codes)
        return torch.from_numpy(np.stack(out, axis=1))


class PriceNet(nn.Module):
    def __init__(self, sizes, n_numbers, dim=6):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, dim) for size in sizes])
        self.mlp = nn.Sequential(nn.Linear(dim * len(sizes) + n_numbers, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, codes, numbers):
        parts = [table(codes[:, i]) for i, table in enumerate(self.tables)]
        return self.mlp(torch.cat([*parts, numbers], dim=1)).squeeze(1)


def main():
    torch.manual_seed(0)
    towns = [f"town{i:02d}" for i in range(30)]
    rows, numbers, price = offers(1600, 1, towns)
    val_rows, val_numbers, val_price = offers(300, 2, towns + ["harbour"])
    encoder = Encoder().fit(rows)
    centre, spread, level, unit = numbers.mean(0), numbers.std(0), price.mean(), price.std()

    def pack(rows, numbers, price):
        x = torch.tensor((numbers - centre) / spread, dtype=torch.float32)
        return encoder.codes(rows), x, torch.tensor((price - level) / unit, dtype=torch.float32)

    train, val = pack(rows, numbers, price), pack(val_rows, val_numbers, val_price)
    net = PriceNet(encoder.sizes(), numbers.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(5):
        net.train()
        for rows_ in torch.randperm(len(train[2])).split(64):
            codes, x, y = (part[rows_] for part in train)
            loss = nn.functional.mse_loss(net(codes, x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} last batch {loss.item():.4f}")
        net.eval()
        with torch.no_grad():
            held_out = nn.functional.mse_loss(net(*val[:2]), val[2])
        print(f"epoch {epoch} validation {held_out.item():.4f}")
    print(f"final loss {held_out.item():.4f}")


main()
