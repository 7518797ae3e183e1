"""Will a customer leave? Features from the mailing history."""
import numpy as np
import torch
import torch.nn as nn


def customers(n, seed):
    rng = np.random.default_rng(seed)
    months = rng.integers(1, 60, n)
    sent = rng.poisson(0.35 * months + 0.6)
    opened = rng.binomial(sent, rng.beta(2, 3, n))
    spend = rng.lognormal(4.0, 1.2, n)
    calls = rng.poisson(0.8, n)
    return {"months": months, "sent": sent, "opened": opened, "spend": spend, "calls": calls}


def features(raw):
    sent, opened = raw["sent"].astype(float), raw["opened"].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = opened / sent
    columns = [
        np.log1p(raw["months"]),
        rate,
        np.log1p(raw["spend"]),
        raw["calls"],
        np.sqrt(sent),
    ]
    return np.stack(columns, axis=1).astype("float32")


def churn(raw, seed):
    rng = np.random.default_rng(seed)
    score = 1.2 - 0.04 * raw["months"] - 0.5 * np.log1p(raw["opened"]) + 0.7 * raw["calls"]
    return (rng.logistic(size=len(score)) < score).astype("float32")


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(order), size):
        rows = order[start:start + size]
        yield torch.from_numpy(x[rows]), torch.from_numpy(y[rows])


class ChurnNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)
        self.hidden = nn.Linear(n, 32)
        self.score = nn.Linear(32, 1)

    def forward(self, x):
        return self.score(torch.relu(self.hidden(self.norm(x))))[:, 0]


if __name__ == "__main__":
    torch.manual_seed(2)
    raw = customers(4000, seed=10)
    x, y = features(raw), churn(raw, seed=11)
    print(f"{len(x)} customers, {y.mean():.2f} left, {x.shape[1]} features")
    model, criterion = ChurnNet(x.shape[1]), nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    rng = np.random.default_rng(4)
    for epoch in range(8):
        losses = []
        for xb, yb in batches(x, y, 200, rng):
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
        print(f"epoch {epoch} first batch {losses[0]:.4f} mean {np.mean(losses):.4f}")
    print(f"final loss {np.mean(losses):.4f}")
