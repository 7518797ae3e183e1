"""Masked modelling of machine event codes with a collate function, BERT style."""
import random
import torch
from torch import nn
from torch.utils.data import DataLoader

VOCAB, PAD, MASK = 40, 0, 1


class Collator:
    def __init__(self, rate, seed):
        self.rate, self.rng = rate, random.Random(seed)

    def __call__(self, rows):
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), PAD)
        labels = torch.full((len(rows), width), -100)
        for r, row in enumerate(rows):
            for c, code in enumerate(row):
                ids[r, c] = code
                if self.rng.random() < self.rate:
                    labels[r, c], ids[r, c] = code, MASK
        return ids, labels


def journals(n, seed):
    rng = random.Random(seed)
    out = []
    for i in range(n):
        start, step = rng.randrange(2, VOCAB), rng.choice((1, 2))
        length = rng.randint(1, 4) if i % 3 else rng.randint(5, 9)
        out.append([2 + (start + step * k) % (VOCAB - 2) for k in range(length)])
    return out


class CodeModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.table = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.context = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.unmask = nn.Linear(2 * dim, VOCAB)
        self.loss = nn.CrossEntropyLoss(reduction="sum")

    def forward(self, ids, labels):
        logits = self.unmask(self.context(self.table(ids))[0])
        return self.loss(logits.flatten(0, 1), labels.flatten()) / (labels != -100).sum().clamp(min=1)


def main():
    torch.manual_seed(3)
    loader = DataLoader(journals(900, 1), batch_size=4, shuffle=True, collate_fn=Collator(0.15, 2))
    model = CodeModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(2):
        total = count = 0
        for ids, labels in loader:
            loss = model(ids, labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            total, count = total + loss.item(), count + 1
        print(f"epoch {epoch}: masked loss {total / count:.3f}")
    print(f"final loss {total / count:.3f}")


if __name__ == "__main__":
    main()
