import torch
from torch import nn, optim
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

VOCAB, TAGS = 120, 6


def sentences(n, seed):
    g = torch.Generator().manual_seed(seed)
    tag_of = torch.randint(0, TAGS, (VOCAB,), generator=torch.Generator().manual_seed(3))
    out = []
    for k in range(n):
        length = 40 if k % 16 == 0 else int(torch.randint(3, 9, (1,), generator=g))
        w = torch.randint(1, VOCAB, (length,), generator=g)
        t = (tag_of[w] + torch.cat([torch.zeros(1, dtype=torch.long), (w[:-1] < 40).long()])) % TAGS
        out.append((w, t))
    return out


def collate(batch):
    words, tags = zip(*batch)
    words = pad_sequence(words, batch_first=True, padding_value=0)
    real = pad_sequence([torch.ones_like(t) for t in tags], batch_first=True).bool()
    tags = pad_sequence(tags, batch_first=True, padding_value=0)
    return words, tags, real


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 24)
        self.conv = nn.Conv1d(24, 48, 3, padding=1)
        self.fc = nn.Linear(48, TAGS)

    def forward(self, w):
        return self.fc(torch.relu(self.conv(self.emb(w).transpose(1, 2))).transpose(1, 2))


def accuracy(model, dl):
    ok = n = 0
    with torch.no_grad():
        for w, t, real in dl:
            ok += (model(w).argmax(-1) == t)[real].sum().item()
            n += real.sum().item()
    return ok / n


torch.manual_seed(5)
dl = DataLoader(sentences(1200, 0), batch_size=32, collate_fn=collate, shuffle=True)
test = DataLoader(sentences(300, 1), batch_size=64, collate_fn=collate)
model, ce = Tagger(), nn.CrossEntropyLoss()
opt = optim.SGD(model.parameters(), lr=0.2)
for epoch in range(8):
    for w, t, real in dl:
        loss = ce(model(w).flatten(0, 1), t.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, "loss", round(loss.item(), 4), "accuracy", round(accuracy(model, test), 4))
print("final accuracy %.4f" % accuracy(model, test))
