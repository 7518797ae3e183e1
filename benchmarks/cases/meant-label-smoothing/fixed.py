import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flowers(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = 1.2 * torch.randn(10, 18, generator=torch.Generator().manual_seed(0))
    y = torch.randint(0, 10, (n,), generator=g)
    return TensorDataset(c[y] + 0.7 * torch.randn(n, 18, generator=g), y)


def build_model():
    return nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 10))


def main():
    torch.manual_seed(15)
    train = DataLoader(flowers(2000, 1), batch_size=64, shuffle=True)
    test = DataLoader(flowers(500, 2), batch_size=250)
    model = build_model()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.2)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(10):
        model.train()
        for x, y in train:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"epoch {epoch} smoothed loss {loss.item():.4f} acc {hits / 500:.3f}")
    print(f"final acc {hits / 500:.4f}")


main()
