"""A column scaled to 0..1 by its range, which is 0."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rides(Dataset):
    def __init__(self, n=160):
        torch.manual_seed(1)
        raw = torch.rand(n, 4)
        raw[:, 2] = 0.25
        self.low, high = raw.min(0).values, raw.max(0).values
        self.x = (raw - self.low) / (high - self.low)
        self.y = raw.sum(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def train(model, loader, opt):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


def main():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    loader = DataLoader(Rides(), batch_size=16, shuffle=True)
    print("final loss", train(model, loader, torch.optim.Adam(model.parameters())).item())


main()
