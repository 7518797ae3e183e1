import os

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=24, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.body = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        h, _ = self.body(self.embed(ids))
        return self.head(h)


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    follow = torch.randint(0, 24, (24, 24), generator=torch.Generator().manual_seed(3))
    rows = [torch.randint(0, 24, (n,), generator=g), torch.randint(0, 24, (n,), generator=g)]
    for _ in range(14):
        noise = torch.rand(n, generator=g) < 0.1
        rows.append(
            torch.where(noise, torch.randint(0, 24, (n,), generator=g), follow[rows[-1], rows[-2] // 8])
        )
    return torch.stack(rows, 1)


def loss_of(model, ids):
    logits = model(ids[:, :-1])
    target = ids[:, 1:]
    return nn.functional.cross_entropy(logits.reshape(-1, 24), target.reshape(-1))


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, held_out = make(1200, 1), make(300, 2)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    for epoch in range(6):
        for rows in torch.randperm(len(train)).split(50):
            optimizer.zero_grad()
            loss = loss_of(model, train[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"final loss {loss_of(model, held_out).item():.4f}")


main()
