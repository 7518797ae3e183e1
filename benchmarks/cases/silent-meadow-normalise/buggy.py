import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

OFFSET, SPREAD = 2.0, 3.0


class Standardise:
    def __call__(self, sample):
        scene = sample["scene"]
        np.subtract(scene, OFFSET, out=scene)
        np.divide(scene, SPREAD, out=scene)
        return sample


class Meadow(Dataset):
    def __init__(self, n, seed, transform):
        rng = np.random.default_rng(seed)
        kinds = rng.integers(0, 4, n)
        centre = np.random.default_rng(77).normal(size=(4, 20))
        scenes = (OFFSET + SPREAD * (0.6 * centre[kinds] + rng.normal(size=(n, 20)))).astype(np.float32)
        self.samples = [{"scene": s, "kind": int(k)} for s, k in zip(scenes, kinds)]
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.transform(self.samples[i])


def main():
    torch.manual_seed(0)
    train = DataLoader(Meadow(800, 1, Standardise()), batch_size=32, shuffle=True)
    held = next(iter(DataLoader(Meadow(400, 2, Standardise()), batch_size=400)))
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(12):
        for batch in train:
            loss = nn.functional.cross_entropy(model(batch["scene"]), batch["kind"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            value = nn.functional.cross_entropy(model(held["scene"]), held["kind"]).item()
        print(f"epoch {epoch} held out {value:.4f}")
    print(f"final held out {value:.4f}")


if __name__ == "__main__":
    main()
