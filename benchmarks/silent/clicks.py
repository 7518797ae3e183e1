import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 8)
        self.body = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 24), nn.ReLU())
        self.head = nn.Linear(24, 1)

    def forward(self, item, x):
        h = torch.cat([self.table(item), x], dim=-1)
        return self.head(self.body(h)).squeeze(-1)


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    taste = torch.randn(30, 12, generator=torch.Generator().manual_seed(99))
    item, x = torch.randint(0, 30, (n,), generator=g), torch.randn(n, 12, generator=g)
    score = (taste[item] * x).sum(-1) / 3 + 0.3 * torch.randn(n, generator=g)
    return TensorDataset(item, x, (score > 0.2).float())


def evaluate(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for item, x, y in loader:
            total += nn.functional.binary_cross_entropy_with_logits(model(item, x), y).item()
    return total / len(loader)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, held_out = (
        DataLoader(make(1600, 1), batch_size=40, shuffle=True),
        DataLoader(make(600, 2), batch_size=100),
    )
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.3)
    for epoch in range(8):
        model.train()
        for item, x, y in train:
            optimizer.zero_grad()
            loss = nn.functional.binary_cross_entropy_with_logits(model(item, x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f} held out {evaluate(model, held_out):.4f}")
    print(f"final loss {evaluate(model, held_out):.4f}")


main()
