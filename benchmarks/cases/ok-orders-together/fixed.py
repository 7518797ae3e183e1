import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def recordings(n, seed):
    g = torch.Generator().manual_seed(seed)
    waves, kinds = [], []
    for _ in range(n):
        kind = int(torch.randint(0, 3, (), generator=g))
        t = torch.arange(int(torch.randint(8, 20, (), generator=g)))
        waves.append(torch.sin((0.3 + 0.4 * kind) * t + 6.28 * torch.rand((), generator=g))[:, None])
        kinds.append(kind)
    return waves, kinds


def arranged(waves, kinds):
    pairs = list(zip(waves, kinds))
    random.shuffle(pairs)
    waves, kinds = map(list, zip(*pairs))
    order = sorted(range(len(waves)), key=lambda i: len(waves[i]))
    waves = [waves[i] for i in order]
    kinds = [kinds[i] for i in order]
    return waves, torch.tensor(kinds)


class Listener(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.rnn = nn.GRU(1, width, batch_first=True)
        self.out = nn.Linear(width, 3)

    def forward(self, padded, lengths):
        lengths, order = lengths.sort(descending=True)
        padded = padded[order]
        states, _ = self.rnn(padded)
        last = states[torch.arange(len(lengths)), lengths - 1]
        return self.out(last)[order.argsort()]


def main():
    random.seed(0)
    torch.manual_seed(1)
    waves, kinds = arranged(*recordings(450, 1))
    model = Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(6):
        for rows in torch.randperm(len(waves)).split(15):
            part = [waves[i] for i in rows]
            lengths = torch.tensor([len(w) for w in part])
            loss = nn.functional.cross_entropy(model(pad_sequence(part, batch_first=True), lengths), kinds[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
