"""A ring of what was seen, done and paid, which moves on before the pay is written."""

import torch
from torch import nn

torch.manual_seed(0)
worth = torch.randn(6, 4)


class Ring:
    def __init__(self, rows):
        self.seen, self.done_there = torch.zeros(rows, 6), torch.zeros(rows, dtype=torch.long)
        self.payoff = torch.zeros(rows)
        self.rows, self.at, self.filled = rows, 0, 0

    def push(self, seen, choice, payoff):
        self.seen[self.at] = seen
        self.done_there[self.at] = choice
        self.at = (self.at + 1) % self.rows
        self.payoff[self.at] = payoff
        self.filled = min(self.rows, self.filled + 1)

    def draw(self, count):
        rows = torch.randint(0, self.filled, (count,))
        return self.seen[rows], self.done_there[rows], self.payoff[rows]


ring, values = Ring(512), nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(values.parameters(), lr=3e-3)
for step in range(300):
    for _ in range(4):
        seen, choice = torch.randn(6), int(torch.randint(0, 4, ()))
        ring.push(seen, choice, torch.tanh(seen @ worth)[choice])
    seen, choice, payoff = ring.draw(64)
    loss = nn.functional.mse_loss(values(seen).gather(1, choice[:, None]).squeeze(1), payoff)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
