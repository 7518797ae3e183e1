"""Pairs of a user and a genre are taken apart by a reshape, so that users are looked up among the genres."""

import torch
from torch import nn

torch.manual_seed(0)
USERS, GENRES = 60, 5
pairs = torch.stack([torch.randint(0, USERS, (200,)), torch.randint(0, GENRES, (200,))], dim=1)
liked = torch.rand(200)
user, genre = nn.Embedding(USERS, 8), nn.Embedding(GENRES, 8)
optimizer = torch.optim.Adam([*user.parameters(), *genre.parameters()], lr=1e-2)


def score(users, genres):
    return (user(users) * genre(genres)).sum(dim=1)


for step in range(20):
    rows = torch.randint(0, 160, (16,))
    loss = nn.functional.mse_loss(score(pairs[rows, 0], pairs[rows, 1]), liked[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    users, genres = pairs[160:].reshape(2, -1)
    print(float(nn.functional.mse_loss(score(users, genres), liked[160:])))
