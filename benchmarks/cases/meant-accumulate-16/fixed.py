import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 16


def build_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=g)
    y = (x[:, :1] * 1.5 - x[:, 1:2] + torch.sin(2 * x[:, 2:3])) + 0.1 * torch.randn(n, 1, generator=g)
    return TensorDataset(x, y)


def main():
    torch.manual_seed(18)
    loader = DataLoader(build_data(2048, 0), batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 48), nn.GELU(), nn.Linear(48, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    optimizer.zero_grad()
    for epoch in range(5):
        running = 0.0
        for it, (x, y) in enumerate(loader, start=1):
            loss = nn.functional.mse_loss(model(x), y)
            (loss / ACCUM).backward()
            running += loss.item()
            if it % ACCUM == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} mse {running / len(loader):.4f}")
    print(f"final mse {running / len(loader):.4f}")


if __name__ == "__main__":
    main()
