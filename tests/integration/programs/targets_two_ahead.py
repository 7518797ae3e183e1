"""A model of sequences whose targets are shifted by the data and once more in front of the loss."""

import torch
from torch import nn
from torch.nn import functional as F


class NextToken(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 12)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.head(self.rnn(self.embed(ids))[0])
        return F.cross_entropy(logits[:, :-1].reshape(-1, 12), labels[:, 1:].reshape(-1))


torch.manual_seed(0)
follows = torch.randperm(12)
text = torch.randint(0, 12, (64, 1))
for _ in range(15):
    odd = torch.rand(64, 1) < 0.3
    text = torch.cat([text, torch.where(odd, torch.randint(0, 12, (64, 1)), follows[text[:, -1:]])], 1)
model = NextToken()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(40):
    batch = text[torch.randint(0, 64, (16,))]
    loss = model(batch[:, :-1], batch[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
