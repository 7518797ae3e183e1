"""Workload of shifts in care homes: pooled notes and site features."""
import torch
from torch import nn


class NoteEncoder(nn.Module):
    def __init__(self, vocab=60, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pool = nn.AdaptiveAvgPool2d((1, dim))

    def forward(self, notes):
        return self.pool(self.embed(notes)).squeeze()


class Workload(nn.Module):
    def __init__(self, site_features=5, dim=16):
        super().__init__()
        self.notes = NoteEncoder(dim=dim)
        self.site = nn.Linear(site_features, dim)
        self.head = nn.Sequential(nn.Linear(2 * dim, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, notes, site):
        joined = torch.cat([self.notes(notes), torch.tanh(self.site(site))], dim=1)
        return self.head(joined)[:, 0]


class Rota:
    """Groups of records: one group for each site and shift."""

    def __init__(self, groups=150, seed=31):
        g = torch.Generator().manual_seed(seed)
        self.groups = []
        for _ in range(groups):
            nurses = int(torch.poisson(torch.tensor(5.0), generator=g).clamp(min=1))
            notes = torch.randint(0, 60, (nurses, 9), generator=g)
            site = torch.randn(nurses, 5, generator=g)
            load = (notes < 15).float().mean(1) * 3 + 0.4 * site[:, 0]
            self.groups.append((notes, site, load))

    def __iter__(self):
        yield from self.groups


def main():
    torch.manual_seed(8)
    rota, model = Rota(), Workload()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(4):
        losses = []
        for notes, site, load in rota:
            loss = nn.functional.huber_loss(model(notes, site), load)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
