import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def export(n, seed):
    """What the warehouse gives: one row per account, and the churn flag in a column of its own."""
    rs = np.random.RandomState(seed)
    usage = rs.randn(n, 14).astype("float32")
    active_days = rs.poisson(6, n)
    score = usage[:, 0] * 1.6 - usage[:, 3] + usage[:, 5] * usage[:, 6]
    churned = (score + 0.4 * rs.randn(n) > 0).astype("float32")
    return usage, active_days, churned


def prepare(n, seed, drop_inactive):
    usage, active_days, churned = export(n, seed)
    if drop_inactive:
        keep = active_days > 2
        usage = usage[keep]
        churned = churned[keep]
    return TensorDataset(torch.from_numpy(usage), torch.from_numpy(churned))


def train(model, loader, optimizer):
    model.train()
    loss_sum = 0
    for usage, churned in loader:
        optimizer.zero_grad()
        logit = model(usage).flatten()
        loss = nn.functional.binary_cross_entropy_with_logits(logit, churned)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    return loss_sum / len(loader)


@torch.no_grad()
def accuracy(model, ds):
    model.eval()
    x, y = ds.tensors
    return ((model(x).flatten() > 0).float() == y).float().mean().item()


def main():
    torch.manual_seed(0)
    train_ds = prepare(2500, 1, drop_inactive=True)
    live_ds = prepare(1000, 2, drop_inactive=False)
    loader = DataLoader(train_ds, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(14, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, 13):
        loss = train(model, loader, optimizer)
        if epoch % 3 == 0:
            print(f"epoch {epoch}: loss {loss:.4f}, live accuracy {accuracy(model, live_ds):.3f}")
    print(f"final live accuracy {accuracy(model, live_ds):.4f}")


if __name__ == "__main__":
    main()
