import numpy as np
import torch
from torch import nn


class FlowWindows:
    """Windows of detector readings with their gaps: (values, seen), both (time, detectors)."""

    def __init__(self, hours=2400, detectors=12, length=12, seed=17):
        rng = np.random.default_rng(seed)
        t = np.arange(hours)[:, None]
        shape = np.sin(2 * np.pi * t / 24 - 1.2) + 0.4 * np.sin(4 * np.pi * t / 24)
        readings = shape * rng.uniform(0.6, 1.4, detectors) + 0.15 * rng.standard_normal((hours, detectors))
        readings[rng.random(readings.shape) < 0.2] = np.nan
        start = int(rng.integers(600, 1200))
        readings[start:start + 26] = np.nan  # the line to the control room was down
        self.readings, self.length = readings.astype(np.float32), length

    def __len__(self):
        return len(self.readings) - self.length

    def collate(self, rows):
        stack = np.stack([self.readings[r:r + self.length] for r in rows])
        seen = torch.from_numpy(np.isfinite(stack)).float()
        return torch.nan_to_num(torch.from_numpy(stack), nan=0.0), seen


class Imputer(nn.Module):
    def __init__(self, detectors=12, hidden=32):
        super().__init__()
        self.read = nn.GRU(2 * detectors, hidden, batch_first=True, bidirectional=True)
        self.write = nn.Linear(2 * hidden, detectors)

    def forward(self, values, seen):
        hidden, _ = self.read(torch.cat([values, seen], dim=-1))
        return self.write(hidden)


class Trainer:
    def __init__(self, data, config):
        self.data, self.config = data, config
        self.model = Imputer()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config["lr"])
        self.rng = np.random.default_rng(config["seed"])

    def loss(self, values, seen):
        hide = (torch.rand_like(seen) < self.config["hide"]).float()
        guess = self.model(values * (1 - hide), seen * (1 - hide))
        error = (guess - values) ** 2
        per_window = (error * seen).sum(dim=(1, 2)) / seen.sum(dim=(1, 2))
        return per_window.mean()

    def train_epoch(self):
        order = self.rng.permutation(len(self.data))
        losses = []
        for rows in np.array_split(order, len(order) // self.config["batch"]):
            values, seen = self.data.collate(rows)
            loss = self.loss(values, seen)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            losses.append(loss.item())
        return losses

    def fit(self):
        for epoch in range(self.config["epochs"]):
            losses = self.train_epoch()
            print(f"epoch {epoch} first {losses[0]:.4f} last {losses[-1]:.4f} mean {np.mean(losses):.4f}")
        return float(np.mean(losses))


if __name__ == "__main__":
    torch.manual_seed(4)
    trainer = Trainer(FlowWindows(), {"lr": 5e-3, "batch": 64, "epochs": 5, "hide": 0.3, "seed": 2})
    print("final loss %.4f" % trainer.fit())
