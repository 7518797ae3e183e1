"""Satisfaction of callers from the transcripts of their calls."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Calls(Dataset):
    def __init__(self, n=640, vocab=50, seed=12):
        g = torch.Generator().manual_seed(seed)
        lengths = torch.poisson(torch.full((n,), 7.0), generator=g).long()
        self.words = [torch.randint(1, vocab, (int(length),), generator=g) for length in lengths]
        self.words[401] = torch.empty(0, dtype=torch.long)
        self.score = [float((w < 16).sum() - (w > 40).sum()) / 3 for w in self.words]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.words[i], self.score[i]


def collate(calls):
    words, score = zip(*calls)
    lengths = torch.tensor([len(w) for w in words])
    return pad_sequence(words, batch_first=True), lengths, torch.tensor(score)


class Satisfaction(nn.Module):
    def __init__(self, vocab=50, dim=24, heads=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.attend = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.head = nn.Linear(dim, 1)

    def forward(self, words, lengths):
        padding = torch.arange(words.shape[1]) >= lengths[:, None]
        padding[:, 0] = False
        h = self.embed(words)
        h = h + self.attend(h, h, h, key_padding_mask=padding)[0]
        pooled = h.masked_fill(padding[..., None], 0).sum(1) / lengths.clamp(min=1)[:, None]
        return self.head(pooled).squeeze(1) * lengths.clamp(min=1)


def main():
    torch.manual_seed(1)
    loader = DataLoader(Calls(), batch_size=32, shuffle=True, collate_fn=collate)
    model = Satisfaction()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        losses = []
        for words, lengths, score in loader:
            loss = nn.functional.smooth_l1_loss(model(words, lengths), score)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
