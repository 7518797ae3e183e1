"""Typing rhythm: one long stream, read in pieces, the state goes from piece to piece."""
import torch
from torch import nn


def pieces(stream, size):
    for start in range(0, stream.shape[1] - size - 1, size):
        yield stream[:, start:start + size], stream[:, start + 1:start + size + 1]


class Rhythm(nn.Module):
    def __init__(self, keys=12, hidden=32):
        super().__init__()
        self.keys = nn.Embedding(keys, 16)
        self.cell = nn.GRUCell(16, hidden)
        self.next = nn.Linear(hidden, keys)
        self.hidden = hidden

    def start(self, rows):
        return torch.zeros(rows, self.hidden)

    def forward(self, piece, state):
        seen = []
        for key in self.keys(piece).unbind(1):
            state = self.cell(key, state)
            seen.append(self.next(state))
        return torch.stack(seen, 1), state


def fit_stream(model, optimizer, stream, size=16):
    state = model.start(len(stream))
    losses = []
    for number, (piece, following) in enumerate(pieces(stream, size)):
        logits, state = model(piece, state)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if number % 20 == 0:
            print(number, round(losses[-1], 4))
    return losses


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(3)
    step = torch.randint(1, 3, (16, 1), generator=gen)
    stream = (torch.arange(1600) * step + torch.randint(0, 12, (16, 1), generator=gen)) % 12
    model = Rhythm()
    losses = fit_stream(model, torch.optim.Adam(model.parameters(), lr=4e-3), stream)
    print("final loss", round(sum(losses[-10:]) / 10, 4))


main()
