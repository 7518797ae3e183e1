"""Every token gets a row of its own, and the layer is built for all of them at once."""

"""A label for each token; the head was written for flattened sentences."""
import torch
from torch import nn
import torch.nn.functional as F

TOKENS, WIDTH = 4, 16


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, WIDTH)
        self.head = nn.Linear(TOKENS * WIDTH, 5)

    def forward(self, ids):
        h = self.embed(ids).reshape(-1, WIDTH)
        return self.head(h)


torch.manual_seed(0)
net = Tagger()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    ids, tags = torch.randint(0, 50, (8, TOKENS)), torch.randint(0, 5, (8, TOKENS))
    opt.zero_grad()
    loss = F.cross_entropy(net(ids), tags.reshape(-1))
    loss.backward()
    opt.step()
