import math

import torch
from torch import nn


def sinusoids(length, width):
    table = torch.zeros(length, width)
    for pos in range(length):
        for i in range(0, width, 2):
            angle = pos / (10000 ** (i / width))
            table[pos, i] = math.sin(angle)
            table[pos, i + 1] = math.cos(angle)
    return table


class Tagger(nn.Module):
    def __init__(self, vocab=50, width=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, 5)

    def forward(self, ids):
        x = self.emb(ids) + sinusoids(ids.size(1), self.emb.embedding_dim)
        return self.out(torch.relu(self.mix(x)))


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 50, (400, 120), generator=g)
    tags = ids % 5
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(80):
        pick = torch.randint(0, 400, (16,), generator=g)
        loss = nn.functional.cross_entropy(model(ids[pick]).flatten(0, 1), tags[pick].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(step, round(loss.item(), 4))


main()
