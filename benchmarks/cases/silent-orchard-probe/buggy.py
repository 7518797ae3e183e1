import torch
from torch import nn

from judging import evaluate


def orchard(n, seed):
    g = torch.Generator().manual_seed(seed)
    weights = torch.randn(40, 3, generator=torch.Generator().manual_seed(99))
    x = torch.randn(n, 40, generator=g)
    y = (x[:, :] @ weights + 6.0 * torch.randn(n, 3, generator=g)).argmax(1)
    return x, y


def network():
    return nn.Sequential(
        nn.Linear(40, 256), nn.ReLU(), nn.Dropout(0.7), nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.7), nn.Linear(128, 3)
    )


def run(epochs=40):
    torch.manual_seed(0)
    train, valid = orchard(240, 1), orchard(800, 2)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(train[0])).split(24):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(train[0][rows]), train[1][rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        value = evaluate(model, *valid)
        if epoch % 8 == 7:
            print(f"epoch {epoch} train {total / len(train[0]):.4f} valid {value:.4f}")
    print(f"final valid {value:.4f}")


if __name__ == "__main__":
    run()
