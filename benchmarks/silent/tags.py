import os

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, mask):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        weights = scores.masked_fill(~mask[:, None, :], -1e9).softmax(dim=-1)
        return x + weights @ self.value(x)


class Model(nn.Module):
    def __init__(self, vocabulary=40, width=32, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width, padding_idx=0)
        self.body = nn.ModuleList([Attention(width) for _ in range(2)])
        self.head = nn.Linear(width, tags)

    def forward(self, ids):
        h = self.embed(ids)
        for layer in self.body:
            h = layer(h, ids > 0)
        return self.head(h)


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 5, (40,), generator=torch.Generator().manual_seed(7))
    words, tags = [], []
    for _ in range(n):
        length = int(torch.randint(3, 18, (), generator=g))
        sentence = torch.randint(1, 40, (length,), generator=g)
        words.append(sentence)
        tags.append((kind[sentence] + (sentence < 8).any().long()) % 5)
    return pad_sequence(words, batch_first=True), pad_sequence(tags, batch_first=True, padding_value=-100)


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    (words, tags), (other, wanted) = make(600, 1), make(200, 2)
    model = Model()
    criterion = nn.CrossEntropyLoss(ignore_index=-100)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        for rows in torch.randperm(len(words)).split(30):
            optimizer.zero_grad()
            loss = criterion(model(words[rows]).flatten(0, 1), tags[rows].flatten())
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        final = nn.functional.cross_entropy(model(other).flatten(0, 1), wanted.flatten(), ignore_index=-100)
    print(f"final loss {final.item():.4f}")


main()
