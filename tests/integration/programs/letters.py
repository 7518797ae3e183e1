"""A story, letter by letter."""
import torch
from torch import nn

CONTEXT = 32


class Letters(nn.Module):
    def __init__(self, vocab=60, dim=16):
        super().__init__()
        self.letter = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(CONTEXT, dim)
        self.mix = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True, dropout=0.1)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.letter(ids) + self.place(torch.arange(ids.shape[1]))
        mask = torch.full((ids.shape[1],) * 2, float("-inf")).triu(1)
        return self.head(self.mix(x, src_mask=mask))


@torch.no_grad()
def generate(model, ids, count):
    for _ in range(count):
        logits = model(ids)[:, -1]
        logits = logits.masked_fill(logits < logits.topk(5).values[:, -1:], float("-inf"))
        ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
    return ids


torch.manual_seed(0)
model = Letters().eval()
print(generate(model, torch.randint(0, 60, (1, 8)), 20).shape)
print(generate(model, torch.randint(0, 60, (1, 8)), 40).shape)
