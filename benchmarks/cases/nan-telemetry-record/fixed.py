from __future__ import annotations

import io
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

CHANNELS, LENGTH = 4, 32
RECORD = CHANNELS * LENGTH * 4


def write_dump(path: str, n: int, seed: int) -> None:
    """What the flight recorder leaves behind: records one after the other in erased flash."""
    rng = np.random.default_rng(seed)
    flash = bytearray(b"\xff" * (n * RECORD))
    t = np.linspace(0, 2 * np.pi, LENGTH)
    for i in range(n):
        if i == 1207:
            continue
        phase, speed = rng.uniform(0, 6.28, (CHANNELS, 1)), rng.uniform(0.5, 3.0, (CHANNELS, 1))
        frame = 1.3 * np.sin(speed * t + phase) + 0.2 * rng.standard_normal((CHANNELS, LENGTH))
        flash[i * RECORD:(i + 1) * RECORD] = frame.astype("<f4").tobytes()
    with open(path, "wb") as dump:
        dump.write(flash)


class Telemetry(Dataset):
    def __init__(self, path: str):
        with open(path, "rb") as dump:
            blob = io.BytesIO(dump.read()).getbuffer()
        frames = np.frombuffer(blob, dtype="<f4").reshape(-1, CHANNELS, LENGTH)
        self.frames = torch.tensor(frames[np.isfinite(frames).all(axis=(1, 2))])

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        return self.frames[index]


class Autoencoder(nn.Module):
    def __init__(self, code: int = 12):
        super().__init__()
        self.down = nn.Sequential(nn.Conv1d(CHANNELS, 24, 5, stride=2, padding=2), nn.Tanh(),
                                  nn.Conv1d(24, 24, 5, stride=2, padding=2), nn.Tanh())
        self.squeeze = nn.Linear(24 * (LENGTH // 4), code)
        self.expand = nn.Linear(code, 24 * (LENGTH // 4))
        self.up = nn.Sequential(nn.Tanh(), nn.Upsample(scale_factor=2), nn.Conv1d(24, 24, 5, padding=2), nn.Tanh(),
                                nn.Upsample(scale_factor=2), nn.Conv1d(24, CHANNELS, 5, padding=2))

    def forward(self, x):
        code = self.squeeze(self.down(x).flatten(1))
        return self.up(self.expand(code).unflatten(1, (24, LENGTH // 4)))


def main() -> None:
    torch.manual_seed(9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "dump.bin")
        write_dump(path, n=1800, seed=1)
        records = Telemetry(path)
    train, held_out = random_split(records, [0.9, 0.1])
    loader = DataLoader(train, batch_size=45, shuffle=True)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 6):
        total = 0.0
        for batch in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(batch), batch)
            loss.backward()
            optimizer.step()
            total += loss.item() / len(loader)
        print(f"epoch {epoch} reconstruction {total:.4f}", flush=True)
    print(f"{len(held_out)} records held out")
    print(f"final loss {total:.4f}")


if __name__ == "__main__":
    main()
