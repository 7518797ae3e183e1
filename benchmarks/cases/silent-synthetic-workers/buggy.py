import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Simulator(IterableDataset):
    """Endless labelled scenes, a fresh set in each epoch."""

    def __init__(self, per_worker, seed=0):
        self.per_worker = per_worker
        self.rng = np.random.default_rng(seed)

    def scene(self, rng):
        y = rng.integers(0, 2)
        x = rng.normal(size=24).astype(np.float32)
        x[:6] += 0.6 * (2 * y - 1)
        return torch.from_numpy(x), int(y)

    def __iter__(self):
        rng = self.rng
        for _ in range(self.per_worker):
            yield self.scene(rng)


def check(model, scenes=1000):
    rng = np.random.default_rng(12345)
    sim = Simulator(0)
    x, y = zip(*(sim.scene(rng) for _ in range(scenes)))
    with torch.no_grad():
        return nn.functional.cross_entropy(model(torch.stack(x)), torch.tensor(y)).item()


def main():
    torch.manual_seed(0)
    loader = DataLoader(Simulator(64), batch_size=16, num_workers=2)
    model = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 2))
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, 25):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 6 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} fresh scenes {check(model):.4f}")
    print(f"final fresh scenes {check(model):.4f}")


if __name__ == "__main__":
    main()
