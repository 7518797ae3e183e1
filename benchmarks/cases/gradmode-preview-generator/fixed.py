"""Colour of roasted coffee from sensor curves, with a preview before training."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Roast(nn.Module):
    def __init__(self, points=16, hidden=32):
        super().__init__()
        self.curve = nn.Sequential(nn.Linear(points, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, curve):
        return self.curve(curve).squeeze(-1)


def preview(model, loader):
    """Predictions beside the wanted values, batch after batch."""
    model.eval()
    for curve, colour in loader:
        with torch.no_grad():
            pair = torch.stack([model(curve), colour], dim=1)
        yield pair


def roasts(n=700, points=16, seed=15):
    g = torch.Generator().manual_seed(seed)
    speed = torch.rand(n, 1, generator=g)
    curve = torch.linspace(0, 1, points) ** (0.5 + speed) + 0.03 * torch.randn(n, points, generator=g)
    return curve, 1 - speed[:, 0]


class Session:
    def __init__(self):
        torch.manual_seed(0)
        self.loader = DataLoader(TensorDataset(*roasts()), batch_size=35, shuffle=True)
        self.model = Roast()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)
        self.stream = None

    def look(self, rows=3):
        self.stream = preview(self.model, self.loader)
        for predicted, colour in next(self.stream)[:rows].tolist():
            print(f"predicted {predicted:.2f} colour {colour:.2f}")

    def train(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            losses = []
            for curve, colour in self.loader:
                loss = nn.functional.mse_loss(self.model(curve), colour)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.5f}")
        return sum(losses) / len(losses)


def main():
    session = Session()
    session.look()
    print(f"final loss {session.train(5):.5f}")


if __name__ == "__main__":
    main()
