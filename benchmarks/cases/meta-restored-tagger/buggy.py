"""Fine-tune a small tagger that is built without memory and filled from a checkpoint."""
import io
import math

import torch
from torch import nn

VOCAB, TAGS = 45, 4


class Positions(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        place = torch.arange(length)[:, None] / 10 ** (torch.arange(dim) / dim * 2)
        self.register_buffer("table", torch.sin(place * math.pi), persistent=False)

    def forward(self, h):
        return h + self.table[: h.shape[1]]


class Tagger(nn.Module):
    def __init__(self, dim=24, length=20):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.positions = Positions(length, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 2, 48, dropout=0.0, batch_first=True)
        self.tags = nn.Linear(dim, TAGS)

    def forward(self, ids):
        return self.tags(self.layer(self.positions(self.embed(ids))))


def pretrained():
    torch.manual_seed(5)
    store = io.BytesIO()
    torch.save(Tagger().state_dict(), store)
    store.seek(0)
    return store


def restore(store):
    with torch.device("meta"):
        model = Tagger()
    model.load_state_dict(torch.load(store, weights_only=True), assign=True)
    return model


def sentences(n, g, length=12):
    ids = torch.randint(0, VOCAB, (n, length), generator=g)
    return ids, ids % TAGS


def main():
    model = restore(pretrained())
    g = torch.Generator().manual_seed(5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(80):
        ids, tags = sentences(16, g)
        loss = nn.functional.cross_entropy(model(ids).transpose(1, 2), tags)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
