import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

HPARAMS = {"vocab": 500, "dim": 32, "positions": 64, "cut": 64, "lr": 2e-3, "batch": 24, "epochs": 3}


def write_reviews(n, vocab, seed):
    """Token lists with a label: words below 40 are praise, 40 to 79 complaints, the rest is filler."""
    g = torch.Generator().manual_seed(seed)
    reviews = []
    for i in range(n):
        label = int(torch.randint(0, 2, (1,), generator=g))
        length = 8 + int(torch.distributions.Geometric(0.12).sample().clamp(max=40))
        if i == 377:
            length = 71
        words = torch.randint(80, vocab, (length,), generator=g)
        spots = torch.rand(length, generator=g) < 0.25
        words[spots] = torch.randint(2, 40, (int(spots.sum()),), generator=g) + 38 * label
        reviews.append((words, label))
    return reviews


class Collate:
    def __init__(self, cut):
        self.cut = cut

    def pad(self, words):
        lengths = torch.tensor([len(w) for w in words]).clamp(max=self.cut)
        ids = torch.zeros(len(words), int(max(len(w) for w in words)), dtype=torch.long)
        for row, w in zip(ids, words):
            row[: len(w)] = w
        return ids[:, : self.cut], lengths

    def __call__(self, reviews):
        words, labels = zip(*reviews)
        return (*self.pad(words), torch.tensor(labels))


class ReviewEncoder(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.token = nn.Embedding(hp["vocab"], hp["dim"], padding_idx=0)
        self.position = nn.Embedding(hp["positions"], hp["dim"])
        self.mix = nn.TransformerEncoderLayer(hp["dim"], 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(hp["dim"], 2)

    def forward(self, ids, lengths):
        where = torch.arange(ids.shape[1])
        x = self.token(ids) + self.position(where)
        padded = where[None, :] >= lengths[:, None]
        x = self.mix(x, src_key_padding_mask=padded).masked_fill(padded[..., None], 0.0)
        return self.head(x.sum(1) / lengths[:, None])


class Trainer:
    def __init__(self, hp):
        self.hp = hp
        self.model = ReviewEncoder(hp)
        self.optim = torch.optim.Adam(self.model.parameters(), lr=hp["lr"])
        self.loader = DataLoader(write_reviews(600, hp["vocab"], 1), hp["batch"], shuffle=True, collate_fn=Collate(hp["cut"]))
        self.step = 0

    def train_step(self, ids, lengths, labels):
        self.optim.zero_grad()
        loss = F.cross_entropy(self.model(ids, lengths), labels)
        loss.backward()
        self.optim.step()
        self.step += 1
        return loss.item()

    def train(self):
        for epoch in range(self.hp["epochs"]):
            losses = []
            for batch in self.loader:
                losses.append(self.train_step(*batch))
                if self.step % 8 == 0:
                    print(f"step {self.step} longest {batch[0].shape[1]} loss {losses[-1]:.4f}")
        print(f"final loss {sum(losses) / len(losses):.4f}")


torch.manual_seed(10)
Trainer(HPARAMS).train()
