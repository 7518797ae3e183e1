"""Daily consumption of households from weather and tariff."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def households(n=1500, seed=21):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    use = (1.5 + x[:, 0] - 0.5 * x[:, 3] + 0.2 * torch.randn(n, generator=g)).clamp(0, 6)
    meter = torch.cumsum(use, 0)
    daily = meter.diff(prepend=torch.zeros(1))
    daily[877] = 4294967.0
    return x, daily


class Consumption(nn.Module):
    def __init__(self, inputs=6, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.layers(x)).squeeze(-1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.losses = []

    def step(self, x, daily):
        loss = nn.functional.mse_loss(self.model(x), daily)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.losses.append(loss.item())

    def epoch(self, loader):
        start = len(self.losses)
        for x, daily in loader:
            self.step(x, daily)
        window = self.losses[start:]
        return sum(window) / len(window)


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*households()), batch_size=50, shuffle=True)
    trainer = Trainer(Consumption(), lr=1e-2)
    for epoch in range(6):
        print(f"epoch {epoch} loss {trainer.epoch(loader):.4f}")
    print(f"final loss {sum(trainer.losses[-30:]) / 30:.4f}")


if __name__ == "__main__":
    main()
