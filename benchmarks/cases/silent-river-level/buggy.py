import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader


def river(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(n).float()
    level = torch.sin(t * 0.45) + 0.6 * torch.sin(t * 1.31 + 1) + 0.05 * torch.randn(n, generator=g)
    return level


class LevelWindows(Dataset):
    def __init__(self, level, window=16):
        self.level, self.window = level, window

    def __len__(self):
        return len(self.level) - self.window

    def __getitem__(self, i):
        target = self.level[i + self.window]
        past = self.level[i + 1:i + self.window + 1]
        return past, target


class Forecaster(nn.Module):
    def __init__(self, window=16, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(window, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, past):
        return self.net(past).squeeze(1)


def live_mae(model, level, window=16):
    """As in production: at each hour we have the last `window` measurements and predict the next."""
    errors = []
    with torch.no_grad():
        for now in range(window, 300):
            guess = model(level[now - window:now].unsqueeze(0))
            errors.append((guess - level[now]).abs())
    return torch.cat(errors).mean().item()


if __name__ == "__main__":
    torch.manual_seed(2)
    loader = DataLoader(LevelWindows(river(2200, 0)), batch_size=32, shuffle=True)
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    mse = nn.MSELoss()
    for epoch in range(6):
        total = 0.0
        for past, target in loader:
            loss = mse(model(past), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} train mse {total / len(loader):.5f}")
    print(f"final live mae {live_mae(model, river(320, 5)):.4f}")
