"""Masked tokens in very short poems."""
import torch
import torch.nn.functional as F
from torch import nn

VOCAB, MASK = 40, 39


class PoemModel(nn.Module):
    def __init__(self, dim=32, places=12):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim)
        self.place = nn.Embedding(places, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 48, dropout=0.0, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        h = self.token(ids) + self.place(torch.arange(ids.shape[1]))
        return self.out(self.layer(h))


def hide(ids, share, g):
    """What the model sees, and what it is asked for."""
    chosen = torch.rand(ids.shape, generator=g) < share
    chosen[0, 0] |= ~chosen.any()
    asked = ids.masked_fill(~chosen, -100)
    return ids.masked_fill(chosen, MASK), asked


def poems(g):
    while True:
        size, length = (2, 5) if torch.rand((), generator=g) < 0.2 else (16, 12)
        first = torch.randint(0, 30, (size, 1), generator=g)
        yield (first + torch.arange(length)) % 30


class Pretraining:
    def __init__(self, model, seed):
        self.model = model
        self.g = torch.Generator().manual_seed(seed)
        self.opt = torch.optim.AdamW(model.parameters(), lr=3e-3)

    def step(self, ids):
        seen, asked = hide(ids, 0.15, self.g)
        logits = self.model(seen)
        loss = F.cross_entropy(logits.flatten(0, 1), asked.flatten(), ignore_index=-100)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    pretraining = Pretraining(PoemModel(), seed=2)
    mean = 3.7
    for step, ids in zip(range(160), poems(torch.Generator().manual_seed(2))):
        mean = 0.9 * mean + 0.1 * pretraining.step(ids)
        if step % 40 == 0:
            print(f"step {step} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
