"""Tag sponsored spans in chat messages."""
import torch
import torch.nn.functional as F
from torch import nn

IGNORE = -100
TAGS = ("O", "B", "I")


class Tagger(nn.Module):
    def __init__(self, vocab=70, dim=24, tags=len(TAGS)):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.head(self.rnn(self.emb(ids))[0])


def chats(n=600, length=14, seed=3):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 70, (n, length), generator=g)
    begin = ids < 8
    inside = torch.zeros_like(begin)
    inside[:, 1:] = begin[:, :-1] & ~begin[:, 1:]
    tags = begin.long() + 2 * inside.long()
    annotated = (torch.rand(n, generator=g) * 1.15 * length).long().clamp(max=length)
    outside = torch.arange(length) >= annotated[:, None]
    tags[outside] = IGNORE
    return ids, tags


def batches(ids, tags, size):
    order = (tags != IGNORE).sum(1).argsort(descending=True)
    for rows in order.split(size):
        yield ids[rows], tags[rows]


def criterion(logits, tags):
    return F.cross_entropy(logits.transpose(1, 2), tags, ignore_index=IGNORE)


def run_epoch(model, data, opt):
    seen, total = 0, 0.0
    for ids, tags in data:
        loss = criterion(model(ids), tags)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        seen += 1
    return total / seen


def main():
    torch.manual_seed(5)
    ids, tags = chats()
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(6):
        mean = run_epoch(model, batches(ids, tags, 12), opt)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
