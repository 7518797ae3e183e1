"""Crop yield from soil and weather, a robust loss against measuring errors."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Fields(Dataset):
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.soil = torch.randn(n, 9, generator=gen)
        weight = torch.linspace(-1, 1, 9)
        self.tonnes = self.soil @ weight + 0.6 * self.soil[:, 0] * self.soil[:, 1] + 0.1 * torch.randn(n, generator=gen)

    def __len__(self):
        return len(self.tonnes)

    def __getitem__(self, i):
        return self.soil[i], self.tonnes[i]


def stack_fields(samples):
    soil, tonnes = zip(*samples)
    return torch.stack(soil), torch.stack(tonnes)


class YieldNet(nn.Module):
    def __init__(self, width=48, dropout=0.0):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU())
        self.tonnes = nn.Linear(width, 1)

    def forward(self, soil):
        return self.tonnes(self.trunk(soil)).squeeze(1)


class PseudoHuber:
    def __init__(self, delta):
        self.delta = delta

    def __call__(self, guess, truth):
        r = (guess - truth) / self.delta
        return (self.delta ** 2 * ((1 + r * r).sqrt() - 1)).mean()


class Experiment:
    def __init__(self, epochs=6):
        torch.manual_seed(20)
        self.loader = DataLoader(Fields(1500, 4), batch_size=50, shuffle=True, collate_fn=stack_fields)
        self.model, self.criterion, self.epochs = YieldNet(), PseudoHuber(0.5), epochs
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=4e-3)

    def step(self, soil, tonnes):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(soil), tonnes)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self):
        for epoch in range(self.epochs):
            values = [self.step(*batch) for batch in self.loader]
            print(f"epoch {epoch} loss {sum(values) / len(values):.4f}")
        return sum(values) / len(values)


if __name__ == "__main__":
    print(f"final loss {Experiment().run():.4f}")
