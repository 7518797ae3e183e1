"""Pre-train a peptide encoder by filling in masked residues."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"


class Vocab(dict):
    def add(self, token):
        return self.setdefault(token, len(self))

    def encode(self, text):
        return torch.tensor([self.get(letter, self["[UNK]"]) for letter in text])


def peptides(n, rng):
    """Repeats of short motifs with point mutations."""
    motifs = ["".join(rng.choices(RESIDUES, k=rng.randint(3, 6))) for _ in range(12)]
    for _ in range(n):
        text = rng.choice(motifs) * rng.randint(3, 5)
        yield "".join(c if rng.random() > 0.05 else rng.choice(RESIDUES) for c in text)


class PeptideModel(nn.Module):
    def __init__(self, n_tokens, width=48):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, width, padding_idx=0)
        self.encoder = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.predict = nn.Linear(2 * width, n_tokens)

    def forward(self, ids):
        states, _ = self.encoder(self.embed(ids))
        return self.predict(states)


def corrupt(ids, mask_id, rate, gen):
    """Hide some residues; only they count in the loss."""
    hide = (torch.rand(ids.shape, generator=gen) < rate) & (ids > 1)
    return ids.masked_fill(hide, mask_id), ids.masked_fill(~hide, -100)


def main(steps=120, batch=32, mask_rate=0.12):
    torch.manual_seed(0)
    rng, gen = random.Random(3), torch.Generator().manual_seed(3)
    vocab = Vocab()
    for token in ("[PAD]", "[UNK]", *RESIDUES):
        vocab.add(token)
    n_tokens = len(vocab)
    corpus = [vocab.encode(p) for p in peptides(600, rng)]
    mask_id = vocab.add("[MASK]")
    model = PeptideModel(n_tokens)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    loss_fn = nn.CrossEntropyLoss(ignore_index=-100)
    recent = []
    for step in range(steps):
        ids = pad_sequence(rng.sample(corpus, batch), batch_first=True)
        visible, target = corrupt(ids, mask_id, mask_rate, gen)
        loss = loss_fn(model(visible).transpose(1, 2), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent = (recent + [loss.item()])[-20:]
        if step % 20 == 0:
            print(f"step {step:3d} loss {loss.item():.4f} tokens {len(vocab)}")
    print(f"final loss {sum(recent) / len(recent):.4f}")


if __name__ == "__main__":
    main()
