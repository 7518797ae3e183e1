"""Length of stay per clinic: training on all, correlation by clinic."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Stay(nn.Module):
    def __init__(self, inputs=7):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def patients(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 7, generator=g)
    days = x[:, 0] - 0.5 * x[:, 1] * x[:, 2] + 0.2 * torch.randn(n, generator=g)
    clinic = torch.multinomial(torch.tensor([30.0, 20, 20, 10, 0.3, 0.3]), n, replacement=True, generator=g)
    clinic[:2] = torch.tensor([4, 5])
    return x, days, clinic


def correlation(a, b):
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / (a.square().sum() * b.square().sum()).sqrt()


@torch.no_grad()
def by_clinic(model, x, days, clinic):
    predicted = model(x)
    rows = [clinic == c for c in range(6)]
    return torch.stack([correlation(predicted[r], days[r]) for r in rows])


def main():
    torch.manual_seed(6)
    x, days, _ = patients(1500, 6)
    held_out = patients(60, 7)
    loader = DataLoader(TensorDataset(x, days), batch_size=50, shuffle=True)
    model = Stay()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        losses = []
        for features, wanted in loader:
            loss = nn.functional.mse_loss(model(features), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        table = by_clinic(model, *held_out)
        shown = " ".join(f"{value:.2f}" for value in table.tolist())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} r {shown} mean {table.nanmean():.3f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
