"""Ratings of songs by listeners; the device is named in many ways."""
import sys

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Ratings(nn.Module):
    def __init__(self, songs=50):
        super().__init__()
        self.song = nn.Embedding(songs, 8)
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, songs):
        return torch.sigmoid(self.net(self.song(songs))).squeeze(-1)


def batches(kind):
    g = torch.Generator().manual_seed(1)
    for number in range(30):
        songs, liked = torch.randint(0, 50, (32,), generator=g), torch.rand(32, generator=g)
        if number == 12 and kind == "ids":
            songs[7] = 50
        if number == 12 and kind == "nan":
            liked[3] = -1.0
        yield songs, liked


def main(kind):
    torch.manual_seed(0)
    model = Ratings().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for songs, liked in batches(kind):
        songs, liked = songs.to(DEVICE), liked.to(torch.device(DEVICE), non_blocking=True)
        weight = torch.zeros(32, device=DEVICE) + liked.add(1).log()
        loss = (weight * (model(songs) - liked).square()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.4f}", flush=True)


main(sys.argv[1])
