import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WORDS = ["good", "bad", "fine", "awful", "great", "poor", "nice", "sad", "the", "a", "film", "plot"]


class Reviews(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(5)
        self.rows = []
        for _ in range(n):
            m = int(torch.randint(4, 14, (1,), generator=g))
            ids = torch.randint(1, len(WORDS) + 1, (m,), generator=g)
            good = sum(1 for t in ids.tolist() if t in (1, 3, 5, 7)) > sum(1 for t in ids.tolist() if t in (2, 4, 6, 8))
            self.rows.append((ids, int(good)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, label = self.rows[i]
        return ids, label


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(WORDS) + 1, 16, padding_idx=0)
        self.out = nn.Linear(16, 2)

    def forward(self, ids):
        return self.out(self.emb(ids).sum(1))


torch.manual_seed(0)


def padded(samples):
    ids = nn.utils.rnn.pad_sequence([i for i, _ in samples], batch_first=True)
    return ids, torch.tensor([label for _, label in samples])


loader = DataLoader(Reviews(400), batch_size=25, shuffle=True, collate_fn=padded)
model = Bag()
opt = torch.optim.Adam(model.parameters(), lr=5e-2)
for epoch in range(4):
    hits = 0
    for ids, label in loader:
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(1) == label).sum().item()
    print(f"epoch {epoch} acc {hits / 400:.3f}")
print(f"final accuracy {hits / 400:.3f}")
