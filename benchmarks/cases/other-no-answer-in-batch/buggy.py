import random

import torch
from torch import nn

TAGS, TOKENS, LENGTH = 4, 90, 14


def documents(n, rng):
    docs = []
    for _ in range(n):
        ids = [rng.randrange(TOKENS) for _ in range(LENGTH)]
        rate = 0.0 if rng.random() < 0.12 else 0.45
        tags = [(ids[i] + ids[i - 1]) % TAGS if ids[i] < 40 and rng.random() < rate else -100 for i in range(LENGTH)]
        docs.append((torch.tensor(ids), torch.tensor(tags)))
    return docs


class Tagger(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, TAGS)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


class Run:
    def __init__(self, seed=0, batch=2):
        torch.manual_seed(seed)
        self.rng = random.Random(seed)
        self.docs, self.batch = documents(500, self.rng), batch
        self.model = Tagger()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def epoch(self):
        self.rng.shuffle(self.docs)
        total, n = 0.0, 0
        for i in range(0, len(self.docs), self.batch):
            ids, tags = map(torch.stack, zip(*self.docs[i:i + self.batch]))
            logits = self.model(ids)
            loss = self.criterion(logits.flatten(0, 1), tags.flatten())
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total, n = total + loss.item(), n + 1
        return total / n

    def __call__(self, epochs):
        for e in range(epochs):
            loss = self.epoch()
            print(f"epoch {e} loss {loss:.4f}")
        print(f"final loss {loss:.4f}")


if __name__ == "__main__":
    Run()(epochs=2)
