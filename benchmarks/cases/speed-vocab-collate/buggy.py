import random
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader

random.seed(1)
WORDS = ["w%d" % i for i in range(900)]
CORPUS = [([random.choice(WORDS) for _ in range(30)], random.randrange(3)) for _ in range(900)]


def build_vocab(corpus):
    counts = Counter(w for words, _ in corpus for w in words)
    return {w: i + 1 for i, (w, _) in enumerate(counts.most_common())}


class Collator:
    def __init__(self, corpus):
        self.corpus = corpus

    def __call__(self, items):
        vocab = build_vocab(self.corpus)
        ids = torch.tensor([[vocab.get(w, 0) for w in words] for words, _ in items])
        return ids, torch.tensor([y for _, y in items])


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(1000, 24)
        self.out = nn.Linear(24, 3)

    def forward(self, ids):
        return self.out(self.emb(ids))


def train():
    torch.manual_seed(0)
    model = Bag()
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = DataLoader(CORPUS, batch_size=16, shuffle=True, collate_fn=Collator(CORPUS))
    for epoch in range(6):
        for ids, y in loader:
            loss = nn.functional.cross_entropy(model(ids), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, float(loss))


train()
