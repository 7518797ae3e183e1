"""Losses that look like faults and are meant: costs of actions, soft targets, a small regulariser, ignored padding, a sum."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
embed, head = nn.Embedding(10, 8), nn.Linear(8, 10)
rnn = nn.GRU(8, 8, batch_first=True)
teacher, chooser = nn.Linear(8, 10), nn.Linear(8, 4)
parameters = [p for m in (embed, head, rnn, chooser) for p in m.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-2)
price = torch.tensor([1.0, 2.0, 3.0, 4.0])
for _ in range(40):
    ids = torch.randint(1, 10, (8, 9))
    for row in range(8):
        ids[row, 4 + row % 5 :] = 0
    states, _ = rnn(embed(ids))
    logits = head(states)
    following = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], ignore_index=0)
    taught = F.cross_entropy(logits[:, 0], teacher(states[:, 0]).detach().softmax(-1))
    drawn = torch.multinomial(chooser(states[:, 0].detach()).softmax(1), 1)
    cost = price[drawn.squeeze(1)]
    chosen = chooser(states[:, 0].detach()).log_softmax(1).gather(1, drawn).squeeze(1)
    small = 1e-5 * sum(p.pow(2).sum() for p in head.parameters())
    loss = following + taught + (chosen * (cost - cost.mean())).mean() + small
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
