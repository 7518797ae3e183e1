import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def recordings(n, seed):
    g = torch.Generator().manual_seed(seed)
    waves, kinds = [], []
    for _ in range(n):
        kind = int(torch.randint(0, 4, (), generator=g))
        t = torch.arange(int(torch.randint(8, 24, (), generator=g)))
        wave = torch.sin((0.3 + 0.35 * kind) * t + 6.28 * torch.rand((), generator=g))
        waves.append(torch.stack([wave, 0.2 * torch.randn(len(t), generator=g)], 1))
        kinds.append(kind)
    return waves, kinds


def prepare(waves, kinds):
    """Like lengths side by side: less padding in a batch."""
    order = sorted(range(len(waves)), key=lambda i: len(waves[i]))
    return [waves[i] for i in order], torch.tensor([kinds[i] for i in order])


class Listener(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.rnn = nn.GRU(2, width, batch_first=True)
        self.out = nn.Linear(width, 4)

    def forward(self, padded, lengths):
        states, _ = self.rnn(padded)
        return self.out(states[torch.arange(len(lengths)), lengths - 1])


def main():
    torch.manual_seed(1)
    waves, kinds = prepare(*recordings(600, 1))
    held, wanted = recordings(200, 2)
    model = Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    starts = torch.arange(0, len(waves), 20)
    for epoch in range(8):
        for start in starts[torch.randperm(len(starts))].tolist():
            part = waves[start : start + 20]
            lengths = torch.tensor([len(w) for w in part])
            loss = nn.functional.cross_entropy(model(pad_sequence(part, batch_first=True), lengths), kinds[start : start + 20])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        out = model(pad_sequence(held, batch_first=True), torch.tensor([len(w) for w in held]))
        print(f"final held out {nn.functional.cross_entropy(out, torch.tensor(wanted)).item():.4f}")


if __name__ == "__main__":
    main()
