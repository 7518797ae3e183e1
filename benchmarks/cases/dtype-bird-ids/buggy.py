"""Which of five bird species is it, from the body's measures."""
import torch
import torch.nn.functional as F
from torch import nn

SPECIES, MEASURES = 5, 7


def field_table(n=800, seed=25):
    """One row a bird: the measures and, last, the species."""
    g = torch.Generator().manual_seed(seed)
    species = torch.randint(0, SPECIES, (n,), generator=g)
    centre = 2 * torch.randn(SPECIES, MEASURES, generator=g)
    measures = centre[species] + torch.randn(n, MEASURES, generator=g)
    return torch.cat([measures, species[:, None]], dim=1)


class Split:
    def __init__(self, table, held_out=0.2):
        cut = int(len(table) * (1 - held_out))
        self.train, self.test = table[:cut], table[cut:]

    @staticmethod
    def columns(table):
        return table[:, :-1], table[:, -1]


class Species(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(MEASURES)
        self.net = nn.Sequential(nn.Linear(MEASURES, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, SPECIES))

    def forward(self, measures):
        return self.net(self.norm(measures))


@torch.no_grad()
def accuracy(model, table):
    model.eval()
    measures, species = Split.columns(table)
    right = model(measures).argmax(1) == species
    model.train()
    return right.float().mean().item()


def main():
    torch.manual_seed(1)
    split = Split(field_table())
    model = Species()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    print(f"before training: accuracy {accuracy(model, split.test):.2f}")
    for epoch in range(6):
        losses = []
        for rows in torch.randperm(len(split.train)).split(40):
            measures, species = Split.columns(split.train[rows])
            loss = F.cross_entropy(model(measures), species)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} accuracy {accuracy(model, split.test):.2f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
