"""Ripeness of avocados from colour and firmness, with early stopping."""
import torch
from torch import nn


class Ripeness(nn.Module):
    def __init__(self, inputs=8, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def fruit(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    return x, torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * torch.randn(n, generator=g)


class Session:
    def __init__(self, model, lr=2e-2, patience=6):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.patience, self.waited = patience, 0

    def validate(self, x, y, best):
        self.model.eval()
        torch.set_grad_enabled(False)
        score = nn.functional.mse_loss(self.model(x), y).item()
        self.model.train()
        if score >= best:
            self.waited += 1
            return best
        self.waited = 0
        torch.set_grad_enabled(True)
        return score

    def epoch(self, x, y, batch=32):
        total = 0.0
        for rows in torch.randperm(len(x)).split(batch):
            loss = nn.functional.mse_loss(self.model(x[rows]), y[rows])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(rows)
        return total / len(x)


def main():
    torch.manual_seed(0)
    train, valid = fruit(640, 1), fruit(120, 2)
    session, best = Session(Ripeness()), float("inf")
    for epoch in range(14):
        mean = session.epoch(*train)
        best = session.validate(*valid, best)
        print(f"epoch {epoch} loss {mean:.4f} best {best:.4f} waited {session.waited}")
        if session.waited >= session.patience:
            break
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
