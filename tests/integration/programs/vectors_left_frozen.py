"""Ratings by two tables of vectors, of which one is made of given values."""

import torch
from torch import nn

torch.manual_seed(0)
taste, trait = torch.randn(200, 4), torch.randn(100, 4)
user, item = torch.randint(0, 200, (8000,)), torch.randint(0, 100, (8000,))
rating = (taste[user] * trait[item]).sum(1) / 2 + 0.1 * torch.randn(8000)


class Ratings(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.user = nn.Embedding(200, 8)
        self.item = nn.Embedding.from_pretrained(vectors)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(1)


# The vectors of the last catalogue are a good start.
model = Ratings(0.1 * torch.randn(100, 8))
nn.init.normal_(model.user.weight, std=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(8000).split(200):
        loss = (model(user[rows], item[rows]) - rating[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
