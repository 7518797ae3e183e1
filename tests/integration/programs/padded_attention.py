"""Comments by thread; the thread without any comment has nothing to attend to."""

import torch
from torch import nn

torch.manual_seed(2)
words = torch.randint(1, 30, (90, 6))
lengths = torch.randint(1, 7, (90,))
lengths[33] = 0


class Thread(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 8)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, 1)

    def forward(self, ids, n):
        hidden = torch.arange(6) >= n[:, None]
        x = self.embed(ids)
        x, _ = self.attend(x, x, x, key_padding_mask=hidden)
        return self.out(x.mean(1)).squeeze(1)


model = Thread()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for rows in torch.arange(90).split(15):
    loss = (model(words[rows], lengths[rows]) - lengths[rows].float()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
