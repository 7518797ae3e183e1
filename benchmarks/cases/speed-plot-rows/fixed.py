import csv
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make(folder):
    g = torch.Generator().manual_seed(3)
    for k in range(4):
        with open(os.path.join(folder, f"plot{k}.csv"), "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["rain", "sun", "yield"])
            for row in torch.randn(700, 3, generator=g).tolist():
                w.writerow([f"{v:.5f}" for v in row])


class Plots(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.tables = {}
        self.entries = [(k, i) for k in range(4) for i in range(0, 700, 10)]

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, n):
        plot, row = self.entries[n]
        if plot not in self.tables:
            rows = []
            with open(os.path.join(self.folder, f"plot{plot}.csv")) as f:
                for line in csv.DictReader(f):
                    rows.append([float(line["rain"]), float(line["sun"]), float(line["yield"])])
            self.tables[plot] = rows
        rows = self.tables[plot]
        picked = torch.tensor(rows[row])
        return picked[:2], picked[2:]


with tempfile.TemporaryDirectory() as folder:
    make(folder)
    torch.manual_seed(0)
    loader = DataLoader(Plots(folder), batch_size=28, shuffle=True)
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(3):
        total = 0.0
        for x, y in loader:
            loss = (net(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, round(total / len(loader), 4))
